import { describe, expect, test } from 'vitest'
import { apiKeys, exportProvider, importProvider } from '../../../src/entries/security.ts'
import type { ApiKeyOptions } from '../../../src/entries/security.ts'

function mistakesOf(options: unknown): readonly string[] {
  try {
    apiKeys(options as ApiKeyOptions)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as TypeError).message.split('\n').slice(1)
  }
  return []
}

describe('the record of an API key provider', () => {
  test('has the defaults of the contract', () => {
    expect(apiKeys({ name: 'API Key' }).record).toEqual({
      name: 'API Key',
      type: 'api_key',
      priority: 50,
      enabled: true,
      identifier: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-/,
      ) as unknown,
      defaultExpiry: null,
      maxExpiry: null,
      length: 16,
      properties: {
        HttpHeaderName: 'X-API-Key',
        AllowApiKeyInQueryString: false,
        QueryStringParameterName: 'apiKey',
        AllowInsecureHttp: false,
      },
    })
  })

  test('is frozen, and so is the provider', () => {
    const provider = apiKeys({ name: 'API Key' })
    expect(Object.isFrozen(provider)).toBe(true)
    expect(Object.isFrozen(provider.record)).toBe(true)
    expect(Object.isFrozen(provider.record.properties)).toBe(true)
  })

  test('keeps the given options', () => {
    const given = {
      name: 'Partner keys',
      type: 'api_key',
      priority: 7,
      enabled: false,
      identifier: '0189ABCD-0000-4000-8000-00000000000f',
      defaultExpiry: 60,
      maxExpiry: 60,
      length: 128,
      properties: {
        HttpHeaderName: 'X-Partner',
        AllowApiKeyInQueryString: true,
        QueryStringParameterName: 'key',
        AllowInsecureHttp: true,
      },
    } as const
    const provider = apiKeys(given)
    expect(provider.record).toEqual({ ...given, identifier: given.identifier.toLowerCase() })
    expect(provider).toMatchObject({
      name: 'Partner keys',
      type: 'api_key',
      priority: 7,
      enabled: false,
      identifier: given.identifier.toLowerCase(),
      defaultExpiry: 60,
      maxExpiry: 60,
      allowInsecureHttp: true,
      parameters: ['key'],
      keeps: ['keys', 'users'],
      challenge: 'ApiKey header="X-Partner"',
    })
  })

  test('derives the identifier from the name: equal at every start, different for every name', () => {
    const identifier = apiKeys({ name: 'API Key' }).identifier
    expect(identifier).toBe('811aa809-2143-83fa-b9eb-fd6d5740665b')
    expect(apiKeys({ name: 'API Key', length: 20, priority: 1 }).identifier).toBe(identifier)
    expect(apiKeys({ name: 'API key' }).identifier).not.toBe(identifier)
  })

  test.each([
    [undefined, undefined, null],
    [undefined, 90, 90],
    [30, undefined, 30],
    [30, 90, 30],
    [90, 90, 90],
    [null, null, null],
  ])('default %s and maximum %s: new keys live %s minutes', (defaultExpiry, maxExpiry, lives) => {
    const options = { name: 'A', ...(defaultExpiry === undefined ? {} : { defaultExpiry }) }
    const provider = apiKeys({ ...options, ...(maxExpiry === undefined ? {} : { maxExpiry }) })
    expect(provider.defaultExpiry).toBe(lives)
    expect(provider.maxExpiry).toBe(maxExpiry ?? null)
  })

  test('lists every mistake with its place', () => {
    const mistakes = mistakesOf({
      type: 'http_basic_auth',
      priority: 1.5,
      enabled: 'true',
      identifier: 'mine',
      defaultExpiry: 0,
      maxExpiry: 1.5,
      length: 15,
      colour: 'red',
      properties: {
        HttpHeaderName: 'X Key',
        AllowApiKeyInQueryString: 'True',
        QueryStringParameterName: '$apiKey',
        AllowInsecureHttp: 1,
        Timeout: 5,
      },
    })
    expect(mistakes.map((line) => /^ {2}- ([\w.]+): \S/.exec(line)?.[1]).toSorted()).toEqual([
      'apiKeys.colour',
      'apiKeys.defaultExpiry',
      'apiKeys.enabled',
      'apiKeys.identifier',
      'apiKeys.length',
      'apiKeys.maxExpiry',
      'apiKeys.name',
      'apiKeys.priority',
      'apiKeys.properties.AllowApiKeyInQueryString',
      'apiKeys.properties.AllowInsecureHttp',
      'apiKeys.properties.HttpHeaderName',
      'apiKeys.properties.QueryStringParameterName',
      'apiKeys.properties.Timeout',
      'apiKeys.type',
    ])
  })

  test('is an object', () => {
    expect(mistakesOf(undefined)).toEqual(['  - apiKeys: is missing: must be an object'])
    expect(mistakesOf('API Key')).toEqual(['  - apiKeys: must be an object'])
  })

  test('has no default expiry above the maximum', () => {
    expect(mistakesOf({ name: 'A', defaultExpiry: 91, maxExpiry: 90 })).toEqual([
      '  - apiKeys.defaultExpiry: must not be above maxExpiry, which is 90',
    ])
  })

  test.each([8, 15, 129, 1e9, 16.5, Number.NaN, '16', null])('has no length of %s', (length) => {
    expect(mistakesOf({ name: 'A', length })).toHaveLength(1)
  })

  test.each(['', '\n', 'a\u0000', 'a'.repeat(201), '\ud800', 5])('has no name %j', (name) => {
    expect(mistakesOf({ name })).toHaveLength(1)
  })

  test.each([
    '',
    'X Key',
    'a:b',
    'X-Ké',
    'X,Y',
    ' X',
    'Host',
    'content-length',
    'Content-Type',
    'Transfer-Encoding',
    'Connection',
    'Accept',
    'accept-language',
    'Cookie',
    'Authorization',
    'Proxy-Authorization',
    'Expect',
    'Upgrade',
    'TE',
    'Trailer',
    'Keep-Alive',
    'Date',
    'Origin',
    'Forwarded',
    'X-Forwarded-For',
    'x-forwarded-proto',
    'X-Real-IP',
    'If-Match',
    'Sec-Fetch-Mode',
    'Range',
    'Referer',
    'User-Agent',
    'Via',
    ':authority',
    'X-Svc-Ignore-Warnings',
    'X-Acme-Version',
    'X-HTTP-Method-Override',
    5,
    null,
  ])('has no header %j', (HttpHeaderName) => {
    expect(mistakesOf({ name: 'A', properties: { HttpHeaderName } })).toHaveLength(1)
  })

  test.each(['X-API-Key', 'api-key', 'Ocp-Apim-Subscription-Key', 'X_Key.1'])(
    'may have the header %s',
    (HttpHeaderName) => {
      expect(mistakesOf({ name: 'A', properties: { HttpHeaderName } })).toEqual([])
    },
  )

  test.each(['', '$apiKey', 'api key', ' a', 'a\t', 'a\u00a0', 'a\u0007', '\udc00', 5])(
    'has no query parameter %j',
    (QueryStringParameterName) => {
      expect(mistakesOf({ name: 'A', properties: { QueryStringParameterName } })).toHaveLength(1)
    },
  )
})

describe('export and import', () => {
  const provider = apiKeys({
    name: 'Partner keys',
    priority: 3,
    maxExpiry: 90,
    length: 32,
    properties: { HttpHeaderName: 'X-Partner', AllowInsecureHttp: true },
  })

  test('the export is the whole record as JSON', () => {
    const text = JSON.stringify(exportProvider(provider))
    expect(JSON.parse(text)).toEqual(provider.record)
    expect(Object.keys(exportProvider(provider))).toEqual([
      'name',
      'type',
      'priority',
      'enabled',
      'identifier',
      'defaultExpiry',
      'maxExpiry',
      'length',
      'properties',
    ])
  })

  test('the import gives the same provider, disabled and with an identifier of its own', () => {
    const options = importProvider(JSON.parse(JSON.stringify(exportProvider(provider))))
    const imported = apiKeys(options)
    expect(imported.enabled).toBe(false)
    expect(imported.identifier).not.toBe(provider.identifier)
    expect(importProvider(exportProvider(provider)).identifier).not.toBe(imported.identifier)
    const { identifier } = imported
    expect(imported.record).toEqual({ ...provider.record, enabled: false, identifier })
    expect(exportProvider(imported)).toEqual(imported.record)
  })

  test('the import lists every mistake', () => {
    const json = { type: 'auth_server', name: '', length: 1, secret: 1 }
    expect(() => importProvider(json)).toThrow(TypeError)
    for (const member of ['type', 'name', 'length', 'secret']) {
      expect(() => importProvider(json)).toThrow(`importProvider.${member}: `)
    }
    expect(() => importProvider('{}')).toThrow('importProvider: must be an object')
  })
})

test('the call is named in the message for an invalid record, and a list is no identifier', () => {
  const identifier = [crypto.randomUUID()] as never
  expect(() => apiKeys({ name: 'A', identifier })).toThrow('apiKeys.identifier: must be a UUID')
  expect(() => exportProvider({ record: {} } as never)).toThrow('exportProvider.name')
  expect(() => importProvider({})).toThrow('importProvider.name')
})
