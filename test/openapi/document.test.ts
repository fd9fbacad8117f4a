import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  json,
  JsonNumber,
  openAccess,
  stringifyJson,
  text,
} from '../../src/entries/index.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { authServer } from '../../src/entries/auth-server.ts'
import { openApiDocument, toYaml, type JsonSchema } from '../../src/entries/openapi.ts'
import { applications, readDocument, type Operation } from './fixture.ts'

const shop = readDocument({ applications })
const things = shop.operation('get', '/shop/things')

const namesOf = ({ parameters = [] }: Operation) =>
  parameters.map(({ name, $ref }) => name ?? $ref?.replace('#/components/parameters/', ''))
const parameterOf = ({ parameters = [] }: Operation, wanted: string) =>
  parameters.find(({ name }) => name === wanted)

/** The schemas of fields without the member that facts.test.ts is about. */
const withoutFacts = (properties: Readonly<Record<string, JsonSchema>>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { 'x-rowgate': _facts, ...schema }]) => [name, schema]),
  )

test.each([
  ['of every kind of field and collection', { applications }, {}],
  ['of nothing', { applications: {} }, {}],
  [
    'with other options',
    {
      applications,
      brand: 'acme',
      bodyStatus: 'http',
      limitExcess: 'reject',
      serviceVersion: false,
    },
    {},
  ],
  ['of one application below a prefix', { applications }, { application: 'shop', prefix: '/api' }],
] as const)('a document %s is valid OpenAPI 3.1', async (_what, described, options) => {
  const { document } = readDocument(described, options)
  const { valid, errors } = await new Validator().validate(toYaml(document))
  expect([valid, errors]).toEqual([true, undefined])
})

test('paths have an operation for each published event', () => {
  const operations = Object.entries(shop.document.paths).map(([path, item]) => [
    path,
    Object.keys(item)
      .filter((name) => name !== 'parameters')
      .join(),
  ])
  expect(operations).toEqual([
    ['/shop/things', 'get,post'],
    ['/shop/things/{id}', 'get,post,delete'],
    ['/shop/spare-parts', 'get,post'],
    ['/shop/spare-parts/{thing},{part}', 'get,post,delete'],
    ['/shop/state', 'get'],
    ['/shop/log', 'get'],
  ])
})

test('operations have ids and tags that name the application only if there are several', () => {
  expect(shop.operation('delete', '/shop/spare-parts/{thing},{part}')).toMatchObject({
    operationId: 'sparePartsDelete',
    tags: ['spare-parts'],
  })
  const one = defineCollection({ key: 'id', sharesTable: true, fields: { id: integer() } })
  const both = readDocument({
    applications: {
      shop: { collections: { 'a-b': one, aB: one, '2024.x': one } },
      office: { collections: { 'a-b': one } },
    },
  })
  const ids = Object.values(both.document.paths).map(({ get }) => (get as Operation).operationId)
  expect(ids.filter((id) => id.endsWith('List'))).toEqual([
    'shopABList',
    'shopAB2List',
    'shop2024XList',
    'officeABList',
  ])
  expect(both.document.tags[0]).toMatchObject({ name: 'shop/a-b' })
})

test('a page has the parameters of its collection', () => {
  expect(namesOf(things)).toEqual([
    'id',
    'name',
    'code',
    'size',
    'amount',
    'large',
    'price',
    'balance',
    'weight',
    'isNew',
    'day',
    'local',
    'made',
    'changed',
    '$limit',
    'Offset',
    'After',
    '$sort',
    '$fields',
    'Search',
    'Count',
  ])
  expect(parameterOf(things, '$sort')).toMatchObject({
    style: 'form',
    explode: false,
    description: 'The order; - before a name means descending. Default: -made.',
    schema: {
      maxItems: 10,
      items: { enum: expect.arrayContaining(['weight', '-weight']) as unknown },
    },
  })
  expect(parameterOf(things, '$sort')?.schema.items?.enum).not.toContain('extra')
  expect(parameterOf(things, '$fields')?.schema.items?.enum).toEqual([
    '*',
    'id',
    'name',
    'code',
    'size',
    'amount',
    'large',
    'price',
    'balance',
    'weight',
    'isNew',
    'day',
    'local',
    'made',
    'extra',
    'changed',
    'label',
  ])
  expect(parameterOf(things, '$limit')?.description).toContain('Default: 5.')
  expect(parameterOf(things, '$limit')?.schema).toEqual({ type: 'integer', minimum: 0 })
  const strict = readDocument({ applications, limitExcess: 'reject' })
  expect(parameterOf(strict.operation('get', '/shop/things'), '$limit')?.schema).toEqual({
    type: 'integer',
    minimum: 0,
    maximum: 20,
  })
  expect(shop.operation('get', '/shop/log').parameters?.[0]).toMatchObject({
    name: 'day',
    required: true,
    example: '2026-01-31',
  })
})

test('parameters of conditions have the form of values in a query', () => {
  const schemaOf = (name: string) => parameterOf(things, name)?.schema
  expect(schemaOf('name')).toEqual({ type: 'string' })
  expect(schemaOf('size')).toEqual({ type: 'string', enum: ['small', 'large'] })
  expect(schemaOf('amount')).toEqual({ type: 'integer' })
  expect(schemaOf('price')).toEqual({
    type: 'string',
    pattern: '^-?(0|[1-9][0-9]{0,2})\\.[0-9]{2}$',
  })
})

test('pages with cursors and estimated counts have their headers', () => {
  expect(things.responses['200']?.headers).toEqual({
    'X-Svc-Version': { $ref: '#/components/headers/Version' },
    'X-Svc-Next-Cursor': { $ref: '#/components/headers/NextCursor' },
  })
  const { responses } = shop.operation('get', '/shop/spare-parts')
  expect(responses['200']?.headers).toHaveProperty('X-Svc-Estimated-Count')
})

test('an item has all its fields, and a row those that pages can have', () => {
  const item = shop.schema('ThingsItem')
  expect(item.required).toEqual(Object.keys(item.properties))
  expect(withoutFacts(item.properties)).toEqual({
    id: { type: 'string', format: 'uuid', description: 'Its number.' },
    name: { type: 'string', minLength: 2, maxLength: 8, description: 'Unique.' },
    code: { type: ['string', 'null'], pattern: '^[a-z]+$' },
    size: { type: ['string', 'null'], enum: ['small', 'large', null] },
    amount: { type: ['integer', 'null'], minimum: 1, maximum: 9 },
    large: {
      type: ['string', 'null'],
      pattern: '^(0|-?[1-9][0-9]{0,18})$',
      description: 'At least 1.',
    },
    price: {
      type: ['string', 'null'],
      pattern: '^-?(0|[1-9][0-9]{0,2})\\.[0-9]{2}$',
      description: 'At most 100.',
    },
    balance: { type: 'string', pattern: '^-?(0|[1-9][0-9]{0,3})$' },
    weight: { type: ['number', 'null'], minimum: 0.5 },
    isNew: { type: ['boolean', 'null'] },
    day: { type: ['string', 'null'], format: 'date', description: 'At least 2020-01-01.' },
    local: {
      type: ['string', 'null'],
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$',
    },
    made: {
      type: 'string',
      format: 'date-time',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z$',
    },
    extra: {},
    long: { type: ['string', 'null'] },
    changed: { type: ['string', 'null'], readOnly: true },
    label: { type: ['string', 'null'], readOnly: true },
  })
  const row = shop.schema('ThingsRow')
  expect(row.required).toBeUndefined()
  expect(Object.keys(row.properties)).toEqual(
    Object.keys(item.properties).filter((name) => name !== 'long'),
  )
})

test('bodies have the fields that clients set, and name defaults in descriptions', () => {
  const insert = shop.schema('ThingsInsert')
  expect(insert).toMatchObject({ additionalProperties: false, required: ['name'] })
  expect(Object.keys(insert.properties)).not.toContain('changed')
  expect(insert.properties).toMatchObject({
    id: { description: 'Its number. Default: a random UUID.' },
    amount: { type: ['integer', 'null'], description: 'Default: 3.' },
    large: { type: ['string', 'integer', 'null'] },
    price: { pattern: '^-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,2})?$' },
    made: { description: 'Default: the current time.' },
  })
  const update = shop.schema('ThingsUpdate')
  expect(update.required).toBeUndefined()
  expect(Object.keys(update.properties)).not.toContain('id')
})

test('operations have examples of the definition', () => {
  const body = shop.operation('post', '/shop/things').requestBody
  expect(body).toHaveProperty(['content', 'application/json', 'examples', 'item', 'value'], {
    name: 'name',
    code: 'abc',
  })
  const change = shop.operation('post', '/shop/things/{id}').requestBody
  expect(change).toHaveProperty(['content', 'application/json', 'examples', 'change', 'value'], {
    code: 'abc',
  })
})

test('references are links to items and pages', () => {
  const links = (method: string, path: string) =>
    shop.operation(method, path).responses['200']?.links
  expect(links('get', '/shop/spare-parts/{thing},{part}')).toEqual({
    things: {
      operationId: 'thingsGet',
      parameters: { id: '$response.body#/item/thing' },
      description: 'The item of things with this thing.',
    },
    things2: {
      operationId: 'thingsGet',
      parameters: { id: '$response.body#/item/other' },
      description: 'The item of things with this other.',
    },
  })
  expect(links('post', '/shop/things')).toMatchObject({
    spareParts: { operationId: 'sparePartsList', parameters: { thing: '$response.body#/item/id' } },
  })
  expect(links('delete', '/shop/things/{id}')).toBeUndefined()
})

test('errors depend on the event and on the providers', () => {
  const statuses = (method: string, path: string, document = shop) =>
    Object.keys(document.operation(method, path).responses).join()
  expect(statuses('get', '/shop/things')).toBe('200,400,403,404,405,406,414,429,500,503')
  expect(statuses('post', '/shop/things')).toBe('200,400,403,404,405,406,413,414,415,429,500,503')
  expect(statuses('delete', '/shop/things/{id}')).toBe(
    '200,400,403,404,405,406,409,414,429,500,503',
  )
  const secured = readDocument({ applications, security: apiKeys({ name: 'k' }) })
  expect(statuses('get', '/shop/state', secured)).toContain('400,401,403')
  const refOf = (document: typeof shop, path: string, method = 'get') =>
    document.operation(method, path).responses['400']?.['$ref']
  expect(refOf(shop, '/shop/things')).toBe('#/components/responses/BadRequest')
  expect(refOf(shop, '/shop/state')).toBe('#/components/responses/RejectedRead')
  expect(refOf(shop, '/shop/things', 'post')).toBe('#/components/responses/RejectedWrite')
})

test('409 belongs to deletes, and to events that run application code', () => {
  const fields = { id: integer() }
  const events = (options: object) => {
    const collections = { things: defineCollection({ key: 'id', fields }, options) }
    const { operation } = readDocument({ applications: { shop: { collections } } })
    return (['list', 'insert', 'update', 'delete'] as const).filter((event) => {
      const method = { list: 'get', insert: 'post', update: 'post', delete: 'delete' }[event]
      const path = event === 'list' || event === 'insert' ? '/shop/things' : '/shop/things/{id}'
      return '409' in operation(method, path).responses
    })
  }
  const nothing = () => undefined
  expect(events({})).toEqual(['delete'])
  expect(events({ events: { Filter: { after: nothing } } })).toEqual(['list', 'delete'])
  expect(events({ events: { Save: { before: nothing } } })).toEqual(['insert', 'update', 'delete'])
  expect(
    events({ validations: [error('never', { events: ['Insert'], check: () => null })] }),
  ).toEqual(['insert', 'delete'])
})

test('writes of applications with idempotency keys have their header and responses', () => {
  const collections = { things: defineCollection({ key: 'id', fields: { id: integer() } }) }
  const read = (idempotencyKeys: boolean | object) => {
    const { document, operation } = readDocument({
      applications: { shop: { collections, idempotencyKeys } },
    })
    return {
      document,
      get: operation('get', '/shop/things'),
      post: operation('post', '/shop/things'),
    }
  }
  const { document, get, post } = read({ keepFor: 5 })
  const key = { $ref: '#/components/parameters/IdempotencyKey' }
  expect(post.parameters).toContainEqual(key)
  expect(get.parameters).not.toContainEqual(key)
  expect(document.components['parameters']?.['IdempotencyKey']?.['name']).toBe('Idempotency-Key')
  expect(post.responses['200']?.headers).toMatchObject({
    'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' },
  })
  expect(post.responses).toMatchObject({
    409: { $ref: '#/components/responses/KeyConflict' },
    422: { $ref: '#/components/responses/KeyReused' },
  })
  expect(get.responses).not.toHaveProperty('422')
  const plain = read(false)
  expect(plain.post.responses).not.toHaveProperty('422')
  expect(JSON.stringify(plain.document)).not.toContain('dempot')
})

test('with the body status of HTTP there is one schema of rejections', () => {
  const { document } = readDocument({ applications, bodyStatus: 'http' })
  expect(document.components['schemas']).not.toHaveProperty('FailedValidation')
})

test('the brand is in the names of headers', () => {
  const branded = readDocument({ applications, brand: 'acme', serviceVersion: false })
  expect(branded.document.components['parameters']?.['IgnoreWarnings']?.['name']).toBe(
    'X-Acme-Ignore-Warnings',
  )
  expect(branded.operation('get', '/shop/things').responses['200']?.headers).toEqual({
    'X-Acme-Next-Cursor': { $ref: '#/components/headers/NextCursor' },
  })
})

test('every enabled provider has a security scheme', () => {
  const security = [
    apiKeys({
      name: 'second',
      priority: 2,
      properties: { HttpHeaderName: 'X-Key', AllowApiKeyInQueryString: true },
    }),
    apiKeys({ name: 'first', priority: 1 }),
    apiKeys({ name: 'off', priority: 3, enabled: false, properties: { HttpHeaderName: 'X-Off' } }),
    httpBasic({ name: 'basic', priority: 4 }),
    authServer({
      name: 'bearer',
      priority: 5,
      issuer: 'https://login.example.com',
      audience: 'shop',
      jwks: 'https://login.example.com/keys',
    }),
  ]
  const { document } = readDocument({ applications, security })
  expect(document.components['securitySchemes']).toMatchObject({
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    apiKey2: { type: 'apiKey', in: 'header', name: 'X-Key' },
    apiKeyInQuery: { type: 'apiKey', in: 'query', name: 'apiKey' },
    basic: { type: 'http', scheme: 'basic' },
    bearer: { type: 'http', scheme: 'bearer' },
  })
  expect(document.security.map((each) => Object.keys(each).join())).toEqual([
    'apiKey',
    'apiKey2',
    'apiKeyInQuery',
    'basic',
    'bearer',
  ])
  const open = readDocument({ applications, security: [openAccess(), apiKeys({ name: 'k' })] })
  expect(open.document.security).toEqual([{ apiKey: [] }, {}])
  expect(shop.document.security).toEqual([])
  expect(shop.document.components).not.toHaveProperty('securitySchemes')
})

test('a document has the information, servers and application of its options', () => {
  const { document } = readDocument(
    { applications },
    { application: 'shop', prefix: '/api', version: '2.1' },
  )
  expect(document.info).toEqual({ title: 'Shop', version: '2.1', description: 'A shop.' })
  expect(document.servers).toEqual([{ url: '/api/rest/v1' }])
  const servers = [{ url: 'https://shop.example.com/rest/v1' }]
  expect(readDocument({ applications }, { servers }).document.servers).toEqual(servers)
})

test.each([
  [{ title: '' }, 'openApiDocument.title: must not be empty'],
  [{ title: 'x', titel: 'y' }, 'openApiDocument.titel: is not an option'],
  [{ title: 'x', application: 'y' }, 'openApiDocument: there is no application y'],
  [
    { title: 'x', license: { name: 'a', identifier: 'b', url: 'https://c.example.com' } },
    'openApiDocument.license: must have an identifier or a url, not both',
  ],
])('rejects the options %j', (options, message) => {
  expect(() => openApiDocument({ applications }, options)).toThrow(message)
})

test('rejects definitions with mistakes', () => {
  const wrong = defineCollection({
    key: 'id',
    fields: { id: text(), more: text({ example: 'abc', maxLength: 2 }) },
  })
  expect(() =>
    openApiDocument({ applications: { a: { collections: { wrong } } } }, { title: 'x' }),
  ).toThrow('applications.a.collections.wrong.fields.more.example: must have at most 2 characters')
})

test('json values of a definition keep their digits, and a body says what json cannot hold', () => {
  const large = new JsonNumber('12345678901234567890.5')
  const limits = defineCollection({
    fields: { limit: json({ enumeration: [large, 1.5], default: large, example: large }) },
  })
  const { document } = readDocument({ applications: { shop: { collections: { limits } } } })
  const text = stringifyJson(document)
  expect(text).toContain('"enum":[12345678901234567890.5,1.5]')
  expect(text).toContain('at most 32 levels')
  expect(text).toContain('Default: 12345678901234567890.5.')
  expect(toYaml(document)).toContain('12345678901234567890.5,\n')
})
