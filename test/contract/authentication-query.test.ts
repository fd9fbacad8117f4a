import { expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'
import { expectUnknown, flipped, newKey, plainKeys, withKey } from '../kit/keys.ts'

const json = { 'Content-Type': 'application/json' }

/** A provider that takes keys in the query. */
function queryKeys(name?: string) {
  return plainKeys({
    properties: {
      AllowApiKeyInQueryString: true,
      ...(name === undefined ? {} : { QueryStringParameterName: name }),
    },
  })
}

describeContract('a key in the query, by default', { security: plainKeys() }, (contract) => {
  test('is not a credential, and its name is an unknown parameter', async () => {
    const { key } = await newKey(contract.service)
    for (const path of ['/orders', '/orders/1', '/customers?$limit=1']) {
      const target = `${path}${path.includes('?') ? '&' : '?'}apiKey=${key}`
      expectUnknown(contract, await contract.get(target), 'missing')
      const beside = await contract.get(target, withKey(key))
      expectError(beside, 400, 'Unknown query parameter: apiKey.')
      expect(beside.text).not.toContain(key)
    }
  })
})

describeContract(
  'a key in the query, where it is allowed',
  { security: queryKeys() },
  (contract) => {
    test('is accepted for every method, with all other parameters', async () => {
      const { key } = await newKey(contract.service)
      itemsIn(await contract.get(`/orders?apiKey=${key}`))
      itemIn(await contract.get(`/orders/1?apiKey=${key}`))
      expect(itemsIn(await contract.get(`/orders?$limit=2&apiKey=${key}&$sort=-orderId`))).toEqual([
        { orderId: 3, title: null, quantity: 3 },
        { orderId: 2, title: 'locked', quantity: 2 },
      ])
      expect(itemsIn(await contract.get(`/orders?title=first&apiKey=${key}`))).toHaveLength(1)
      itemIn(await contract.get(`/orders/1?apiKey=${key}&title=first`))
      itemIn(await contract.post(`/orders?apiKey=${key}`, { orderId: 9 }))
      itemIn(await contract.post(`/orders/9?apiKey=${key}`, { title: 'nine' }))
      itemIn(await contract.delete(`/orders/9?apiKey=${key}`))
    })

    test('may have its name and value percent-encoded', async () => {
      const { key } = await newKey(contract.service)
      const encoded = Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`)
      itemsIn(await contract.get(`/orders?%61pi%4Bey=${encoded.join('')}`))
    })

    test('is removed before the query is parsed; the other parameters are checked as usual', async () => {
      const { key } = await newKey(contract.service)
      const reject = async (rest: string) => {
        const answer = await contract.get(`/orders?apiKey=${key}&${rest}`)
        const plain = await contract.get(`/orders?${rest}`, withKey(key))
        expectError(answer, 400)
        expect(answer.text).toBe(plain.text)
        expect(answer.text).not.toContain(key)
      }
      for (const rest of [
        'nope=1',
        '$apiKey=1',
        'apikey=1',
        'apiKey%20=1',
        '=1',
        '%zz',
        '$limit=x',
      ]) {
        await reject(rest)
      }
      const posted = await contract.post(`/orders?apiKey=${key}&title=x`, { orderId: 9 })
      expectError(posted, 400)
      const nothing = await contract.get(`/orders?apiKey=${key}&&`)
      expect(itemsIn(nothing)).toHaveLength(3)
    })

    test.each([
      ['twice', (key: string) => `apiKey=${key}&apiKey=${key}`],
      ['twice, once encoded', (key: string) => `apiKey=${key}&%61piKey=${key}`],
      ['twice, once empty', (key: string) => `apiKey=${key}&apiKey=`],
      ['twice, once without a value', (key: string) => `apiKey&apiKey=${key}`],
      ['twice, and wrong', (key: string) => `apiKey=${flipped(key)}&apiKey=${key}`],
    ])('is rejected when it comes %s', async (_what, query) => {
      const { key } = await newKey(contract.service)
      const answer = await contract.get(`/orders?${query(key)}`)
      expectError(answer, 400, 'The request carries more than one credential.')
      expect(answer.text).not.toContain(key)
    })

    test('is rejected together with one in the header, even if they are equal', async () => {
      const { key } = await newKey(contract.service)
      for (const value of [key, flipped(key), '']) {
        const answer = await contract.get(`/orders?apiKey=${value}`, withKey(key))
        expectError(answer, 400, 'The request carries more than one credential.')
      }
    })

    test.each([
      ['wrong', (key: string) => flipped(key), 'unknown'],
      ['empty', () => '', 'malformed'],
      ['no valid encoding', () => '%zz', 'malformed'],
      ['no valid UTF-8', () => '%ff%fe', 'malformed'],
      ['spaced', (key: string) => `+${key}`, 'malformed'],
    ] as const)('is rejected when it is %s', async (_what, spoil, reason) => {
      const { key } = await newKey(contract.service)
      const answer = await contract.get(`/orders?apiKey=${spoil(key)}`)
      expectUnknown(contract, answer, reason)
    })

    test('without a value is a malformed key', async () => {
      expectUnknown(contract, await contract.get('/orders?apiKey'), 'malformed')
      expectUnknown(contract, await contract.get('/orders'), 'missing')
    })

    test('is only in the query: not in a body, a path or a cookie', async () => {
      const { key } = await newKey(contract.service)
      const body = JSON.stringify({ orderId: 9, apiKey: key })
      const posted = { method: 'POST', target: `${base}/orders`, headers: json, body }
      expectUnknown(contract, await contract.send(posted), 'missing')
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const sent = { ...posted, headers: form, body: `apiKey=${key}` }
      expectUnknown(contract, await contract.send(sent), 'missing')
      const cookie = { Cookie: `apiKey=${key}; X-API-Key=${key}` }
      expectUnknown(contract, await contract.get('/orders', cookie), 'missing')
      expectUnknown(contract, await contract.get(`/orders;apiKey=${key}`), 'missing')
    })
  },
)

describeContract(
  'a key in the query by a name of its own',
  { security: queryKeys('x-té&k') },
  (contract) => {
    test('opens the service by that name only', async () => {
      const { key } = await newKey(contract.service)
      const name = encodeURIComponent('x-té&k')
      itemsIn(await contract.get(`/orders?${name}=${key}`))
      expectUnknown(contract, await contract.get(`/orders?apiKey=${key}`), 'missing')
      const beside = await contract.get(`/orders?apiKey=${key}&${name}=${key}`)
      expectError(beside, 400, 'Unknown query parameter: apiKey.')
      expect(beside.text).not.toContain(key)
    })
  },
)

describeContract(
  'a key in a header of its own',
  { security: plainKeys({ properties: { HttpHeaderName: 'X-Till_Key.1' } }) },
  (contract) => {
    test('opens the service, and the challenge names the header', async () => {
      const { key } = await newKey(contract.service)
      itemsIn(await contract.get('/orders', { 'x-till_key.1': key }))
      const answer = await contract.get('/orders', withKey(key))
      expectUnknown(contract, answer, 'missing')
      expect(answer.headers['www-authenticate']).toBe('ApiKey header="X-Till_Key.1"')
    })
  },
)

describeContract(
  'two providers that take keys in the query',
  {
    security: [
      plainKeys({ name: 'a', priority: 1, properties: { AllowApiKeyInQueryString: true } }),
      plainKeys({
        name: 'b',
        priority: 2,
        properties: { AllowApiKeyInQueryString: true, QueryStringParameterName: 'k' },
      }),
      plainKeys({ name: 'c', priority: 3 }),
    ],
  },
  (contract) => {
    test('accept their own parameter only, and never two keys', async () => {
      const a = await newKey(contract.service, { provider: 'a' })
      const b = await newKey(contract.service, { provider: 'b' })
      itemsIn(await contract.get(`/orders?apiKey=${a.key}`))
      itemsIn(await contract.get(`/orders?k=${b.key}`))
      expectUnknown(contract, await contract.get(`/orders?apiKey=${b.key}`), 'unknown')
      expectError(await contract.get(`/orders?apiKey=${a.key}&k=${b.key}`), 400, 'more than one')
      expectError(await contract.get(`/orders?k=${b.key}`, withKey(a.key)), 400, 'more than one')
    })
  },
)
