import { expect, test } from 'vitest'
import { rawRequest, statusesIn } from '../kit/http-client.ts'
import { base, describeContract } from './contract.ts'
import { answerWithin, expectError, itemIn, itemsIn } from '../kit/expectations.ts'

const json = { 'Content-Type': 'application/json' }

describeContract('methods', {}, (contract) => {
  test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'PROPFIND', 'TRACE', 'SEARCH', 'LINK'])(
    '%s responds 405 with the methods of the path',
    async (method) => {
      const allowed = [
        ['/customers', 'GET, POST'],
        ['/customers/ALFKI', 'GET, POST, DELETE'],
        ['/journal', 'GET, POST'],
        ['/journal/1', 'GET, POST, DELETE'],
        ['/countries', 'GET'],
        ['/countries/de', 'GET'],
        ['/nothing', 'GET, POST'],
        ['/nothing/1', 'GET, POST, DELETE'],
      ] as const
      for (const [path, allow] of allowed) {
        const answer = await contract.send({
          method,
          target: base + path,
          headers: { 'X-Probe': 'echo' },
        })
        expect(answer.status).toBe(405)
        expect(answer.headers.allow).toBe(allow)
        expect(answer.text).not.toContain('echo')
        if (method !== 'HEAD') expectError(answer, 405)
      }
    },
  )

  test('DELETE of a collection deletes nothing', async () => {
    expectError(await contract.delete('/customers'), 405)
    expectError(await contract.delete('/customers/'), 404)
    expectError(await contract.delete('/customers?customerId=ALFKI'), 405)
    expectError(await contract.delete('/lines'), 405)
  })

  test('events that a collection does not publish respond 405', async () => {
    expectError(await contract.post('/countries', { code: 'fr' }), 405)
    expectError(await contract.post('/countries/de', { name: 'x' }), 405)
    expectError(await contract.delete('/countries/de'), 405)
    expectError(await contract.delete('/journal'), 405)
  })

  test.each(['FOO', 'get', 'Get', 'CONNECT', 'QUERY', 'GET\t', ''])(
    'the request line with the method "%s" is never served',
    async (method) => {
      const target = method === 'CONNECT' ? 'x:1' : `${base}/customers`
      const received = await contract.raw(rawRequest(`${method} ${target}`))
      for (const status of statusesIn(received)) expect([400, 405]).toContain(status)
    },
  )

  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    '%s has no meaning',
    async (name) => {
      const headers = { [name]: 'DELETE' }
      const sent = { customerId: 'OVER', companyName: 'x' }
      expect(itemIn(await contract.post('/customers', sent, headers))['customerId']).toBe('OVER')
      itemIn(await contract.post('/customers/OVER', { city: 'x' }, headers))
      itemIn(await contract.get('/customers/OVER', headers))
    },
  )

  test.each(['Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'])(
    '%s is ignored',
    async (name) => {
      const value = { Range: 'bytes=0-1', 'If-Match': '"x"', 'If-None-Match': '*' }[name]
      const headers = { [name]: value ?? 'Thu, 01 Jan 2099 00:00:00 GMT' }
      expect(itemsIn(await contract.get('/countries', headers))).toHaveLength(1)
      itemIn(await contract.post('/orders/1', { quantity: 5 }, headers))
    },
  )
})

describeContract('media types', {}, (contract) => {
  test.each([
    ['*/*'],
    ['application/*'],
    ['application/json'],
    ['APPLICATION/JSON'],
    ['application/json;q=0.5, text/html'],
    ['text/html, */*;q=0.1'],
    ['application/json; charset=utf-8'],
    ['application/json;q=0.001'],
    ['image/*, application/json'],
    [''],
  ])('Accept: %s is served', async (accept) => {
    itemsIn(await contract.get('/countries', { Accept: accept }))
  })

  test.each([
    ['text/html'],
    ['application/json;q=0'],
    ['application/problem+json'],
    ['image/*'],
    ['text/*, application/xml'],
    ['*/*, application/json;q=0'],
    ['*/*;q=0'],
    ['application/*;q=0, */*'],
    ['application/jsonx'],
  ])('Accept: %s responds 406, and nothing is done', async (accept) => {
    const headers = { Accept: accept }
    expectError(await contract.get('/customers', headers), 406)
    expectError(await contract.delete('/customers/ALFKI', headers), 406)
    expectError(
      await contract.post('/customers', { customerId: 'N', companyName: 'x' }, headers),
      406,
    )
  })

  test.each([';;', ','.repeat(4096), '*/json', 'json', 'a/b/c', ';q=1', '/', '"'])(
    'a malformed Accept is rejected or taken as absent',
    async (accept) => {
      // An expression with backtracking takes far longer for thousands of commas.
      const ask = () => contract.get('/countries', { Accept: accept })
      expect([200, 406]).toContain((await answerWithin(2_000, ask)).status)
    },
  )

  test.each([
    ['APPLICATION/JSON'],
    ['application/json ;charset=UTF-8'],
    ['application/json; charset="utf-8"'],
    ['application/json;foo=bar'],
    ['application/json;charset=utf-8;foo=bar'],
    [' application/json '],
  ])('Content-Type: %s is accepted', async (contentType) => {
    itemIn(await contract.post('/orders/1', { quantity: 5 }, { 'Content-Type': contentType }))
  })

  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonx'],
    ['application/merge-patch+json'],
    ['text/json'],
    ['application/*'],
    ['*/*'],
    ['json'],
    [''],
    ['application/json, application/json'],
    ['application/json;charset=iso-8859-1'],
    ['application/json;charset=utf-16'],
    ['application/json;charset=utf-7'],
    ['application/json;charset=us-ascii'],
    ['application/json;charset='],
    ['application/json;charset'],
    ['application/json;charset=utf-8;charset=latin1'],
    ['application/json;CHARSET=latin1'],
  ])('Content-Type: %s responds 415', async (contentType) => {
    const headers = { 'Content-Type': contentType }
    const answer = await contract.post('/customers', { customerId: 'N', companyName: 'x' }, headers)
    expectError(answer, 415)
    expect(answer.headers.accept).toBe('application/json')
    expectError(await contract.post('/customers/ALFKI', { city: 'x' }, headers), 415)
  })

  test('a second Content-Type and a transfer coding other than chunked respond 415', async () => {
    const json = 'Content-Type: application/json'
    const post = `POST /rest/v1/app/orders`
    const body = '2\r\n{}\r\n0\r\n\r\n'
    const two = rawRequest(post, [json, json, 'Transfer-Encoding: chunked'], body)
    const coded = rawRequest(post, [json, 'Transfer-Encoding: gzip, chunked'], body)
    for (const request of [two, coded]) {
      expect(statusesIn(await contract.raw(request))).toEqual([415])
    }
  })

  test('a body without Content-Type responds 415', async () => {
    const answer = await contract.send({
      method: 'POST',
      target: `${base}/customers`,
      body: '{"customerId":"N","companyName":"x"}',
    })
    expectError(answer, 415)
  })

  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x'])(
    'Content-Encoding: %s responds 415',
    async (coding) => {
      const answer = await contract.post(
        '/orders/1',
        { quantity: 5 },
        { 'Content-Encoding': coding },
      )
      expectError(answer, 415)
      expect(answer.headers['accept-encoding']).toBe('identity')
    },
  )

  test.each(['identity', 'IDENTITY', '', ' '])(
    'Content-Encoding: %j is accepted',
    async (coding) => {
      itemIn(await contract.post('/orders/1', { quantity: 5 }, { 'Content-Encoding': coding }))
    },
  )

  test.each(['GET', 'DELETE'])('the body of %s is ignored', async (method) => {
    const target = `${base}/orders/1`
    for (const body of ['{"quantity":9}', '{', 'x'.repeat(100_000)]) {
      const headers = { ...json, 'Content-Length': String(body.length) }
      const answer = await contract.send({ method, target, headers, body })
      expect(itemIn(answer)).toEqual({ orderId: 1, title: 'first', quantity: 1 })
      if (method === 'GET') continue
      itemIn(await contract.post('/orders', { orderId: 1, title: 'first', quantity: 1 }))
    }
  })
})
