import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isServiceError } from '../../../src/errors.ts'
import type { Credentials } from '../../../src/request/request.ts'
import type { ApiKeyProperties } from '../../../src/security/keys/api-key-record.ts'
import type { SecurityContext } from '../../../src/security/provider.ts'
import { provider } from './fixture.ts'
import { clockAt } from '../../kit/clock.ts'

const path = '/rest/v1/sales/customers'

function request(target: string, headers: Readonly<Record<string, string>> = {}): Credentials {
  return { target, header: (name) => headers[name], secure: true, peer: undefined }
}

function find(
  properties: Partial<ApiKeyProperties>,
  target: string,
  headers?: Readonly<Record<string, string>>,
): unknown {
  return provider({ properties }).find(request(target, headers))
}

const severalKeys = expect.objectContaining({
  code: 'MULTIPLE_CREDENTIALS',
  status: 400,
}) as unknown
const inQuery = { AllowApiKeyInQueryString: true }

describe('in the header', () => {
  test('a key is found by the lower-case name', () => {
    expect(find({}, path, { 'x-api-key': 'k' })).toEqual({ place: 'header x-api-key', value: 'k' })
    const properties = { HttpHeaderName: 'X-Partner-Key' }
    expect(find(properties, path, { 'x-api-key': 'k' })).toBeUndefined()
    expect(find(properties, path, { 'x-partner-key': 'k' })).toEqual({
      place: 'header x-partner-key',
      value: 'k',
    })
  })

  test('a missing header is no credential, an empty one is an invalid credential', () => {
    expect(find({}, path)).toBeUndefined()
    expect(find({}, path, { 'x-api-key': '' })).toMatchObject({ value: '' })
  })

  test('outer spaces and tabs are not part of a key, inner ones and other white space are', () => {
    expect(find({}, path, { 'x-api-key': ' \t k y \t ' })).toMatchObject({ value: 'k y' })
    expect(find({}, path, { 'x-api-key': '\u00a0k' })).toMatchObject({ value: '\u00a0k' })
  })

  test.each(['a, b', 'a,a', ',', 'a,'])('%j is more than one key', (value) => {
    expect(() => find({}, path, { 'x-api-key': value })).toThrow(severalKeys)
  })
})

describe('in the query', () => {
  test('a key is not looked at unless that is allowed', () => {
    expect(provider().parameters).toEqual([])
    expect(find({}, `${path}?apiKey=k`)).toBeUndefined()
    expect(find({}, `${path}?apiKey=k&apiKey=l`, { 'x-api-key': 'k' })).toMatchObject({
      place: 'header x-api-key',
    })
  })

  test.each([
    ['?apiKey=k', 'k'],
    ['?$limit=1&apiKey=k&city=Berlin', 'k'],
    ['?%61pi%4Bey=%6b', 'k'],
    ['?apiKey=a+b', 'a b'],
    ['?apiKey=a=b', 'a=b'],
    ['?apiKey=a?b', 'a?b'],
    ['?apiKey=', ''],
    ['?apiKey', ''],
    ['?apiKey=%zz', '%zz'],
    ['?%zz=1&apiKey=k', 'k'],
    ['?a=1?&apiKey=k', 'k'],
  ])('%s carries %j', (query, value) => {
    expect(find(inQuery, path + query)).toEqual({ place: 'query apiKey', value })
  })

  test('what has no question mark has no query', () => {
    expect(find(inQuery, `${path}&apiKey=k`)).toBeUndefined()
    expect(find(inQuery, '?apiKey=k')).toEqual({ place: 'query apiKey', value: 'k' })
  })

  test('the parameter is reported to the service where it is allowed', () => {
    expect(provider({ properties: inQuery }).parameters).toEqual(['apiKey'])
    for (const one of [provider(), provider({ properties: inQuery })]) {
      expect(one.hiddenParameters).toEqual(['apiKey', 'X-API-Key'])
    }
  })

  test.each(['', '?', '?apikey=k', '?APIKEY=k', '?apiKe=k', '?apiKeys=k', '?x=apiKey=k', '?&&'])(
    '%j carries none',
    (query) => {
      expect(find(inQuery, path + query)).toBeUndefined()
    },
  )

  test('the parameter may have another name', () => {
    const properties = { ...inQuery, QueryStringParameterName: 'schlüssel' }
    expect(find(properties, `${path}?apiKey=k`)).toBeUndefined()
    expect(find(properties, `${path}?schl%C3%BCssel=k`)).toEqual({
      place: 'query schlüssel',
      value: 'k',
    })
  })

  test('a repeated parameter, or a parameter and a header, is more than one key', () => {
    expect(() => find(inQuery, `${path}?apiKey=k&apiKey=k`)).toThrow(severalKeys)
    expect(() => find(inQuery, `${path}?apiKey=k&%61piKey`)).toThrow(severalKeys)
    expect(() => find(inQuery, `${path}?apiKey=k`, { 'x-api-key': 'k' })).toThrow(severalKeys)
  })
})

describe('whatever comes', () => {
  const rejecting: SecurityContext = {
    keys: { find: () => undefined, used: () => expect.unreachable(), rejected: () => undefined },
    users: { find: () => expect.unreachable() },
    now: clockAt('2026-01-01T00:00:00Z').now,
  }
  const either = [provider(), provider({ properties: inQuery })]
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.stringMatching(/^[?&=%+,a-cK apiey0-9-]{0,60}$/),
    fc.base64String({ maxLength: 300 }),
  )

  test('only several keys throw, and random values identify no one', () => {
    fc.assert(
      fc.property(garbage, fc.option(garbage, { nil: undefined }), (query, header) => {
        for (const one of either) {
          try {
            const headers = header === undefined ? {} : { 'x-api-key': header }
            const found = one.find(request(`${path}?${query}`, headers))
            if (found === undefined) continue
            const answer = one.identify(found, rejecting)
            expect(['malformed', 'unknown']).toContain((answer as { rejected: string }).rejected)
          } catch (error) {
            if (!isServiceError(error)) throw error
            expect(error.code).toBe('MULTIPLE_CREDENTIALS')
            expect(error.message).toBe('The request carries more than one credential.')
          }
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('every key is found in header and query as it was sent', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.stringMatching(/^[\w-]{22,171}$/),
        (city, key) => {
          const encoded = `?city=${encodeURIComponent(city)}&apiKey=${key}&a=b`
          expect(find(inQuery, path + encoded)).toMatchObject({ value: key })
          expect(find({}, path + encoded, { 'x-api-key': ` ${key}` })).toMatchObject({ value: key })
        },
      ),
    )
  })
})
