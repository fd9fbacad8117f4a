import { expect, test } from 'vitest'
import { anonymous } from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { base, describeContract } from './contract.ts'
import { expectInvalid, expectError, idsOfWarnings } from '../kit/expectations.ts'

const json = { 'Content-Type': 'application/json' }
const html = { Accept: 'text/html' }
const plain = { 'Content-Type': 'text/plain' }
const badHeader = { 'X-Svc-Ignore-Warnings': 'x' }
const big = `{"companyName":"${'x'.repeat(2000)}"}`

/** Knows those who say so. */
const bouncer: SecurityProvider = {
  name: 'bouncer',
  priority: 1,
  challenge: 'Bouncer',
  allowInsecureHttp: true,
  find: ({ header }) => {
    const value = header('x-let-me-in')
    return value === undefined ? undefined : { place: 'header x-let-me-in', value }
  },
  identify: () => anonymous,
}

describeContract('the order of checks', { bodyLimit: 1000 }, (contract) => {
  test('the syntax of the target comes before the method', async () => {
    const put = (path: string) => contract.send({ method: 'PUT', target: base + path })
    expectError(await put('/customers/%zz'), 400)
    expectError(await put('/customers/'), 404)
    expectError(await put('/customers/a/b'), 404)
  })

  test('the method comes before the existence', async () => {
    expectError(await contract.send({ method: 'PUT', target: `${base}/nothing/1` }), 405)
    expectError(await contract.delete('/nothing'), 405)
    expectError(await contract.delete('/countries/xx', html), 405)
  })

  test('the existence comes before Accept', async () => {
    expectError(await contract.get('/nothing', html), 404)
    expectError(await contract.post('/nothing/1', '{', { ...html, ...plain }), 404)
  })

  test('Accept comes before the media type', async () => {
    expectError(await contract.post('/customers', big, { ...html, ...plain }), 406)
  })

  test('the media type comes before the size', async () => {
    expectError(await contract.post('/customers', big, plain), 415)
    expectError(await contract.post('/customers', big, { 'Content-Encoding': 'gzip' }), 415)
  })

  test('the size comes before the query', async () => {
    expectError(await contract.post('/customers?nope=1', big), 413)
    expectError(await contract.post('/customers?%zz', big), 413)
  })

  test.each([
    ['GET', '/customers?%zz'],
    ['GET', '/customers?$limit=x'],
    ['GET', '/customers?nope=1'],
    ['GET', '/customers?credit=x'],
    ['GET', '/customers?$sort=nope'],
    ['GET', '/customers/ALFKI?nope=1'],
    ['GET', '/customers/ALFKI?$fields=city'],
    ['GET', '/orders/01?nope=1'],
    ['POST', '/customers?city=x'],
    ['POST', '/customers/ALFKI?$limit=1'],
    ['DELETE', '/customers/ALFKI?city=x'],
    ['DELETE', '/orders/01?city=x'],
  ])('the query comes before the header of ignored warnings: %s %s', async (method, path) => {
    const body = method === 'POST' ? { body: '{' } : {}
    const sent = { method, target: base + path, ...body }
    const clean = await contract.send({ ...sent, headers: json })
    const both = await contract.send({ ...sent, headers: { ...json, ...badHeader } })
    expectError(both, 400)
    expect(both.text).toBe(clean.text)
    expect(both.body.message).not.toContain('header')
  })

  test('the header of ignored warnings comes before the JSON', async () => {
    for (const path of ['/customers', '/customers/ALFKI', '/orders/01']) {
      expectError(await contract.post(path, '{', badHeader), 400, 'header')
    }
  })

  test('the header of ignored warnings comes before the item', async () => {
    expectError(await contract.get('/orders/01', badHeader), 400, 'header')
    expectError(await contract.get('/orders/99', badHeader), 400, 'header')
    expectError(await contract.delete('/orders/99', badHeader), 400, 'header')
    expectError(await contract.delete('/orders/01', badHeader), 400, 'header')
  })

  test('the JSON comes before the item', async () => {
    for (const path of ['/customers/NOPE', '/orders/01', '/lines/1']) {
      expectError(await contract.post(path, '{'), 400, 'JSON')
    }
  })

  test('the item comes before the fields', async () => {
    for (const path of ['/customers/NOPE', '/orders/01', '/lines/1']) {
      expectError(await contract.post(path, { nope: 1, customerId: 'x' }), 404)
    }
  })

  test('the fields come before the rules and the warnings', async () => {
    const sent = { orderId: 10, title: 'x'.repeat(21), quantity: 101 }
    expectInvalid(await contract.post('/orders', sent), ['title'])
    expectInvalid(await contract.post('/orders', { quantity: 'x', title: '' }), [
      'orderId',
      'quantity',
    ])
  })

  test('the warnings come before the write', async () => {
    const ids = idsOfWarnings(await contract.post('/orders', { orderId: 1, quantity: 101 }))
    expect(ids).toHaveLength(1)
    expectInvalid(await contract.post('/orders', { orderId: 1, quantity: 1 }), ['orderId'])
  })
})

describeContract('the order of checks with credentials', { security: bouncer }, (contract) => {
  test('the target and the method come before the authentication', async () => {
    expectError(await contract.get('/customers/%zz'), 400)
    expectError(await contract.get('/customers/'), 404)
    expectError(await contract.send({ method: 'PUT', target: `${base}/customers` }), 405)
  })

  test('the authentication comes before the existence and all that follows', async () => {
    const paths = ['/customers', '/nothing', '/customers/NOPE', '/customers?nope=1', '/journal/1']
    for (const path of paths) {
      const answer = await contract.get(path, { ...html, ...badHeader })
      expectError(answer, 401)
      expect(answer.headers).toHaveProperty('www-authenticate')
    }
    expectError(await contract.post('/customers', '{', plain), 401)
    expectError(await contract.get('/nothing', { 'X-Let-Me-In': 'please' }), 404)
    const reasons = contract.reports().map((report) => 'reason' in report && report.reason)
    expect(reasons).toEqual(Array.from({ length: paths.length + 1 }, () => 'missing'))
  })
})
