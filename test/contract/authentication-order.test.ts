import { expect, test } from 'vitest'
import { apiKeys } from '../../src/entries/security.ts'
import { base, describeContract } from './contract.ts'
import { expectError } from '../kit/expectations.ts'
import { expectUnknown, newKey, plainKeys, withKey } from '../kit/keys.ts'

const html = { Accept: 'text/html' }
const plain = { 'Content-Type': 'text/plain' }
const badHeader = { 'X-Svc-Ignore-Warnings': 'x' }
const big = `{"title":"${'x'.repeat(2000)}"}`
const wrong = withKey('AAAAAAAAAAAAAAAAAAAAAA')

describeContract(
  'the order of checks with keys',
  { security: plainKeys({ properties: { AllowApiKeyInQueryString: true } }), bodyLimit: 1000 },
  (contract) => {
    const put = (path: string, headers = {}) =>
      contract.send({ method: 'PUT', target: base + path, headers })

    test('the target and the method come before the key', async () => {
      const { key } = await newKey(contract.service)
      for (const headers of [{}, wrong, withKey(key), withKey(`${key}, ${key}`)]) {
        expectError(await contract.get('/customers/%zz', headers), 400)
        expectError(await contract.get('/customers/', headers), 404)
        expectError(await contract.get('/customers/a/b', headers), 404)
        expectError(await put('/nothing', headers), 405)
        expectError(await contract.delete('/countries/de', headers), 405)
      }
    })

    test('the number of keys is checked before the key itself', async () => {
      expectError(await contract.get('/nothing', withKey('x, y')), 400, 'more than one')
      expectError(await contract.get('/nothing?apiKey=x', wrong), 400, 'more than one')
    })

    test('the key comes before the existence and all that follows', async () => {
      const all = { ...html, ...plain, ...badHeader, ...wrong }
      for (const path of ['/nothing', '/nothing/1', '/orders?nope=1', '/orders/99', '/journal/1']) {
        expectUnknown(contract, await contract.get(path, all), 'unknown')
      }
      for (const path of ['/nothing', '/nothing/1', '/orders?nope=1', '/orders/99', '/journal']) {
        expectUnknown(contract, await contract.post(path, big, all), 'unknown')
      }
    })

    test('with a valid key the other checks are in order', async () => {
      const key = withKey((await newKey(contract.service)).key)
      const post = (path: string, body: unknown, headers = {}) =>
        contract.post(path, body, { ...key, ...headers })
      expectError(await post('/nothing', big, { ...html, ...plain }), 404)
      expectError(await post('/orders?nope=1', big, { ...html, ...plain }), 406)
      expectError(await post('/orders?nope=1', big, { ...plain, ...badHeader }), 415)
      expectError(await post('/orders?nope=1', big, badHeader), 413)
      expectError(
        await post('/orders?nope=1', '{', badHeader),
        400,
        'Unknown query parameter: nope.',
      )
      expectError(await post('/orders', '{', badHeader), 400, 'header')
      expectError(await post('/orders/99', '{'), 400, 'JSON')
      expectError(await post('/orders/99', { nope: 1 }), 404)
    })
  },
)

describeContract(
  'the order of checks with keys over plain HTTP',
  {
    security: apiKeys({ name: 'keys', properties: { AllowApiKeyInQueryString: true } }),
  },
  (contract) => {
    const expectInClear = (text: string) => {
      const reports = contract.reports()
      expect(reports).toEqual([
        { type: 'credential-in-clear', provider: 'keys', peer: '127.0.0.1' },
      ])
      expect(JSON.stringify(reports)).not.toContain(text)
    }

    test('the target and the method come before HTTPS', async () => {
      expectError(await contract.get('/customers/%zz', wrong), 400)
      expectError(await contract.get('/customers/', wrong), 404)
      expectError(
        await contract.send({ method: 'PUT', target: `${base}/orders`, headers: wrong }),
        405,
      )
    })

    test('HTTPS comes before the key, the existence and all that follows', async () => {
      for (const [path, headers, text] of [
        ['/nothing', wrong, 'AAAAAAAA'],
        ['/orders', withKey('x'), '"x"'],
        ['/orders?apiKey=malformed', {}, 'malformed'],
        ['/orders?apiKey=AAAAAAAA&nope=1', html, 'AAAAAAAA'],
      ] as const) {
        expectError(await contract.get(path, headers), 403, /^HTTPS is required\.$/)
        expectInClear(text)
      }
    })

    test('HTTPS comes before the number of keys', async () => {
      for (const [path, headers] of [
        ['/orders', withKey('first, second')],
        ['/orders?apiKey=first&apiKey=second', {}],
        ['/orders?apiKey=first', withKey('second')],
      ] as const) {
        expectError(await contract.get(path, headers), 403, /^HTTPS is required\.$/)
        expectInClear('first')
      }
    })

    test('a request without a key is rejected with 401', async () => {
      expectUnknown(contract, await contract.get('/orders'), 'missing')
      expectUnknown(contract, await contract.get('/nothing', html), 'missing')
    })
  },
)
