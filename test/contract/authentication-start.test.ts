import { describe, expect, test } from 'vitest'
import {
  createService,
  memoryStorage,
  openAccess,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { applications } from './fixture.ts'

const good = apiKeys({ name: 'keys' })

function starting(options: object): () => void {
  const given: object = { applications, storage: memoryStorage(), ...options }
  return () => void createService(given as ServiceOptions<typeof applications>)
}

/** The message of the TypeError with which something fails. */
function mistakesOf(act: () => unknown): string {
  let message = 'no TypeError'
  try {
    act()
  } catch (error) {
    if (error instanceof TypeError) message = error.message
  }
  return message
}

describe('a service', () => {
  test.each<[string, object]>([
    ['no provider', {}],
    ['undefined', { security: undefined }],
    ['null', { security: null }],
    ['an empty list', { security: [] }],
    ['a list with a hole', { security: [good, undefined] }],
    ['a list with null', { security: [null] }],
    ['a text', { security: 'none' }],
    ['true', { security: true }],
    ['openAccess, not called', { security: openAccess }],
    ['apiKeys, not called', { security: [apiKeys] }],
    ['the record of a provider', { security: { name: 'keys', type: 'api_key', priority: 1 } }],
    ['a list in a list', { security: [[good]] }],
  ])('does not start with %s, and the error says what to write', (_what, options) => {
    const message = mistakesOf(starting(options))
    expect(message).toContain('options.security')
    expect(message).toContain('openAccess()')
  })

  test.each<[string, readonly (keyof SecurityProvider)[]]>([
    ['find', ['find']],
    ['name', ['name']],
    ['challenge', ['challenge']],
  ])('does not start with a provider without %s', (name, missing) => {
    const rest = Object.fromEntries(
      Object.entries(good).filter(([member]) => !missing.includes(member as 'find')),
    )
    const message = mistakesOf(starting({ security: rest }))
    expect(message).toContain('options.security')
    expect(message).toContain(name)
  })

  test('does not start with a challenge that no header can carry', () => {
    for (const challenge of ['', 'A\r\nSet-Cookie: a=b', 'Schlüssel', 5]) {
      const message = mistakesOf(starting({ security: { ...good, challenge } }))
      expect(message).toMatch(/options\.security\.keys: .*challenge/)
    }
  })

  test('starts with one provider, with several, and with open access in addition', async () => {
    const other = apiKeys({ name: 'other', priority: 1 })
    for (const security of [good, [good], [good, other], [good, openAccess()], openAccess()]) {
      const service = createService({ applications, storage: memoryStorage(), security })
      await service.close()
    }
  })

  test('does not start with two providers of one name', () => {
    const message = mistakesOf(
      starting({ security: [good, apiKeys({ name: 'keys', priority: 1 })] }),
    )
    expect(message).toMatch(/options\.security\.keys\.name: .*name/)
  })

  test('does not start with two providers of one priority, and names both', () => {
    const message = mistakesOf(starting({ security: [good, apiKeys({ name: 'other' })] }))
    expect(message).toMatch(/options\.security\.other\.priority: .*keys.*50.*another/)
  })

  test('does not start with two providers of one identifier: a key has one provider', () => {
    const { identifier } = good
    const other = apiKeys({ name: 'other', priority: 1, identifier })
    const message = mistakesOf(starting({ security: [good, other] }))
    expect(message).toMatch(/options\.security\.\w+\.identifier/)
  })

  test.each([1.5, NaN, Infinity, '1'])('does not start with the priority %s', (priority) => {
    const message = mistakesOf(starting({ security: { ...good, priority } }))
    expect(message).toMatch(/options\.security\.keys\.priority: must be an integer/)
  })

  test('lists all mistakes of its providers at once', () => {
    const security = [good, { ...good }, { ...good, name: 'other', priority: 0.5 }]
    const message = mistakesOf(starting({ security }))
    for (const place of ['keys.name', 'keys.priority', 'other.priority']) {
      expect(message).toContain(`options.security.${place}: `)
    }
  })

  test.each(['city', 'orderId', 'id'])(
    'does not start when the parameter of a key is the field %s',
    (name) => {
      const properties = { AllowApiKeyInQueryString: true, QueryStringParameterName: name }
      const message = mistakesOf(starting({ security: apiKeys({ name: 'keys', properties }) }))
      expect(message).toMatch(/options\.security\.keys\.parameters/)
      expect(message).toContain(`${name} is a field of `)
      expect(message).toContain('choose another name')
    },
  )

  test('starts when a parameter that is not used is a field', async () => {
    const security = apiKeys({ name: 'keys', properties: { QueryStringParameterName: 'city' } })
    await createService({ applications, storage: memoryStorage(), security }).close()
  })

  test.each<[string, object, string]>([
    ['a limiter that is none', { limits: { requests: {} } }, 'options.limits.requests'],
    ['a limit of another name', { limits: { request: { consume: () => 0 } } }, 'request'],
    ['a number as a limit', { limits: { failures: 5 } }, 'options.limits.failures'],
    ['users that are no function', { users: {} }, 'options.users'],
  ])('does not start with %s', (_what, options, place) => {
    expect(mistakesOf(starting({ security: good, ...options }))).toContain(place)
  })

  test('without API keys rejects calls of keys with the reason', async () => {
    const service = createService({
      applications,
      storage: memoryStorage(),
      security: openAccess(),
    })
    await expect(service.keys.create({ user: 'maria' })).rejects.toThrow(/apiKeys\(/)
    await expect(service.keys.list()).rejects.toThrow(TypeError)
    await expect(service.users.add({ user: 'maria' })).rejects.toThrow(TypeError)
    await service.close()
  })
})

describe('an API key provider', () => {
  const mistake = (options: object) => mistakesOf(() => apiKeys({ name: 'keys', ...options }))
  const header = (HttpHeaderName: unknown) => mistake({ properties: { HttpHeaderName } })

  test.each([
    'X Key',
    'a:b',
    '',
    ' ',
    'X-Key ',
    'X-Ké',
    'X-Key\r\nX-Other',
    'Content-Length',
    'content-type',
    'Host',
    'HOST',
    'Transfer-Encoding',
    'Connection',
    'Cookie',
    'Accept',
    'X-Forwarded-For',
    'Forwarded',
    'X-Svc-Ignore-Warnings',
    5,
    null,
  ])('has no header %j', (name) => {
    expect(header(name)).toMatch(/HttpHeaderName: must be a header name such as X-API-Key/)
  })

  test.each(['$apiKey', '$limit', '', 'api key', 'a\nb', 5, null])(
    'has no parameter %j',
    (QueryStringParameterName) => {
      const properties = { AllowApiKeyInQueryString: true, QueryStringParameterName }
      expect(mistake({ properties })).toMatch(/QueryStringParameterName: must be a parameter name/)
    },
  )

  test.each([8, 15, 129, 1e9, 16.5, NaN, '16'])('creates no keys of %s bytes', (length) => {
    expect(mistake({ length })).toMatch(/length: must be a whole number of bytes, 16 to 128/)
  })

  test.each([
    [16, 22],
    [17, 23],
    [32, 43],
    [128, 171],
  ])('creates keys of %i bytes with %i characters', (length, characters) => {
    expect(apiKeys({ name: 'keys', length }).mint().key).toHaveLength(characters)
  })

  test.each([
    ['defaultExpiry', 0],
    ['defaultExpiry', -1],
    ['maxExpiry', 1.5],
    ['maxExpiry', '60'],
    ['priority', 0.5],
    ['enabled', 'false'],
    ['identifier', 'keys'],
    ['name', ''],
    ['type', 'http_basic_auth'],
    ['nope', 1],
  ])('is not created with %s: %j', (name, value) => {
    expect(mistake({ [name]: value })).toContain(name)
  })

  test('is not created with a default expiry above its maximum', () => {
    expect(mistake({ defaultExpiry: 61, maxExpiry: 60 })).toMatch(
      /defaultExpiry: must not be above/,
    )
  })

  test('has no property of another name', () => {
    expect(mistake({ properties: { AllowInsecureHTTP: true } })).toContain('AllowInsecureHTTP')
    expect(mistake({ properties: { AllowInsecureHttp: 'true' } })).toContain('AllowInsecureHttp')
  })
})

describe('100 000 keys', () => {
  const { mint } = apiKeys({ name: 'keys' })
  const keys = Array.from({ length: 100_000 }, () => mint().key)

  test('are all different, and 22 characters of base64url each', () => {
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.filter((key) => !/^[A-Za-z0-9_-]{22}$/.test(key))).toEqual([])
  })

  test('have every character as often as chance has it', () => {
    const seen = new Map<string, number>()
    // The last of 22 characters has two bits of the key only.
    for (const key of keys) {
      for (const character of key.slice(0, 21)) {
        seen.set(character, (seen.get(character) ?? 0) + 1)
      }
    }
    const expected = (keys.length * 21) / 64
    const chiSquare = Array.from(seen.values()).reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    )
    expect(seen.size).toBe(64)
    // 63 degrees of freedom: beyond 160 chance comes once in a thousand million runs.
    expect(chiSquare).toBeLessThan(160)
  })
})
