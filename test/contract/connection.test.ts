import { expect, test } from 'vitest'
import { rawRequest, statusesIn } from '../kit/http-client.ts'
import { base, describeContract } from './contract.ts'
import { expectError, itemIn } from '../kit/expectations.ts'

const post = `POST ${base}/orders`
const json = 'Content-Type: application/json'

describeContract('connections', {}, (contract) => {
  test('too large a header section is rejected, and many headers are served or rejected', async () => {
    const one = await contract.raw(
      rawRequest(`GET ${base}/orders`, [`X-Long: ${'x'.repeat(17_000)}`]),
    )
    expect(statusesIn(one)).toEqual([431])
    const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`)
    expect(statusesIn(await contract.raw(rawRequest(`GET ${base}/orders`, many(101))))).toEqual([
      200,
    ])
    const crowd = statusesIn(await contract.raw(rawRequest(`GET ${base}/orders`, many(2100))))
    expect([200, 431]).toContain(crowd[0])
  })

  test('a POST without length and body responds 400', async () => {
    for (const headers of [[], [json], ['Content-Length: 0'], [json, 'Content-Length: 0']]) {
      const received = await contract.raw(rawRequest(post, headers))
      expect(statusesIn(received)).toEqual([400])
      expect(received).toContain('body is required')
    }
  })

  test('a body that waits for 100 Continue is read after it', async () => {
    const body = '{"orderId":60}'
    const headers = [json, `Content-Length: ${body.length}`, 'Expect: 100-continue']
    const received = await contract.raw(rawRequest(post, headers, body), { changes: true })
    expect(statusesIn(received)).toEqual([100, 200])
  })

  test('pipelined requests have their responses in order', async () => {
    const first = rawRequest(`GET ${base}/orders/1`).toString().replace('Connection: close\r\n', '')
    const second = rawRequest(`GET ${base}/orders?nope=1`).toString()
    const received = await contract.raw(first + second)
    expect(statusesIn(received)).toEqual([200, 400])
  })

  test('bytes after a valid request can be an invalid request', async () => {
    const first = rawRequest(`GET ${base}/orders/1`).toString().replace('Connection: close\r\n', '')
    const received = await contract.raw(`${first}NONSENSE\r\n\r\n`)
    expect(statusesIn(received).at(-1)).toBe(400)
    for (const status of statusesIn(received).slice(0, -1)) expect(status).toBe(200)
  })

  test.each([['h2c'], ['websocket']])('Upgrade: %s has a normal response', async (protocol) => {
    const lines = rawRequest(`GET ${base}/orders/1`, [`Upgrade: ${protocol}`])
      .toString()
      .replace('Connection: close', 'Connection: Upgrade, close')
    const received = await contract.raw(lines, { patience: 1000 })
    for (const status of statusesIn(received)) expect(status).toBe(200)
  })

  test('bytes beyond the content length are not part of the request', async () => {
    const body = '{"orderId":61}          '
    const received = await contract.raw(rawRequest(post, [json, 'Content-Length: 10'], body))
    for (const status of statusesIn(received)) expect(status).toBe(400)
    expect(statusesIn(received).length).toBeGreaterThan(0)
  })

  test('a body that is shorter than its length is never stored', async () => {
    const request = rawRequest(post, [json, 'Content-Length: 200'], '{"orderId":62}')
    for (const end of [true, false]) {
      const received = await contract.raw(request, { end, patience: 300 })
      for (const status of statusesIn(received)) expect([400, 408]).toContain(status)
    }
    expectError(await contract.get('/orders/62'), 404)
  })

  test('chunks that are broken off are never stored', async () => {
    const request = rawRequest(
      post,
      [json, 'Transfer-Encoding: chunked'],
      'e\r\n{"orderId":62}\r\n',
    )
    const received = await contract.raw(request, { patience: 300 })
    expect(statusesIn(received)).toEqual([])
    const malformed = rawRequest(post, [json, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n')
    expect(statusesIn(await contract.raw(malformed))).toEqual([400])
  })

  test('two lengths, or a length and chunks, are rejected', async () => {
    for (const more of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
      const request = rawRequest(post, [json, 'Content-Length: 14', more], '{"orderId":63}')
      expect(statusesIn(await contract.raw(request))).toEqual([400])
    }
  })

  test('a connection stays open after a body that was rejected unread', async () => {
    const body = 'x'.repeat(1_500_000)
    const headers = { 'Content-Type': 'text/plain' }
    for (let round = 0; round < 3; round++) {
      expectError(await contract.post('/orders', body, headers), 415)
      expectError(await contract.post('/orders', body), 413)
    }
    itemIn(await contract.get('/orders/1'))
  })

  test('clients that disconnect immediately have no effect on others', async () => {
    const requests = [
      rawRequest(`GET ${base}/orders`),
      rawRequest(post, [json, 'Content-Length: 99']),
    ]
    for (const request of [...requests, ...requests]) await contract.raw(request, { patience: 1 })
    itemIn(await contract.get('/orders/1'))
  })
})
