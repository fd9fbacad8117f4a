import { expect, test } from 'vitest'
import {
  createService,
  date,
  decimal,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
} from '../../src/entries/index.ts'
import { applications, readDocument } from './fixture.ts'

const shop = readDocument({ applications })

/** The member `x-rowgate` of an operation. */
const ofOperation = (method: string, path: string): unknown =>
  (shop.operation(method, path) as unknown as Readonly<Record<string, unknown>>)['x-rowgate']

/** The members `x-rowgate` of the fields of a schema, by name. */
const ofFields = (name: string, { schema } = shop): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(schema(name).properties).map(([field, { 'x-rowgate': facts }]) => [
      field,
      facts,
    ]),
  )

test('an operation has its event and the key of its collection', () => {
  expect(ofOperation('post', '/shop/things')).toEqual({ event: 'Insert', key: ['id'] })
  const item = '/shop/spare-parts/{thing},{part}'
  const key = ['thing', 'part']
  expect(ofOperation('get', item)).toEqual({ event: 'Filter', key })
  expect(ofOperation('post', item)).toEqual({ event: 'Update', key })
  expect(ofOperation('delete', item)).toEqual({ event: 'Delete', key })
  expect(ofOperation('get', '/shop/state')).toEqual({ event: 'Filter', key: [] })
})

test('a list has its columns, sizes of pages, order and searched fields', () => {
  expect(ofOperation('get', '/shop/things')).toEqual({
    event: 'Filter',
    key: ['id'],
    columns: [
      ...['id', 'name', 'code', 'size', 'amount', 'large', 'price', 'balance', 'weight'],
      ...['isNew', 'day', 'made', 'changed'],
    ],
    pageSize: 5,
    maximum: 20,
    sort: '-made',
    search: [
      ...['id', 'name', 'code', 'size', 'amount', 'large', 'price', 'balance'],
      ...['day', 'local', 'made', 'changed'],
    ],
  })
})

test('a field has its type, and what its schema cannot express', () => {
  expect(ofFields('ThingsInsert')).toEqual({
    id: { type: 'uuid', description: 'Its number.', generated: 'uuid' },
    name: { type: 'text', unique: true },
    code: { type: 'text' },
    size: { type: 'text' },
    amount: { type: 'integer', defaultValue: 3, minimum: 1, maximum: 9 },
    large: { type: 'bigint', minimum: '1' },
    price: { type: 'decimal', maximum: '100', precision: 5, scale: 2 },
    balance: { type: 'decimal', defaultValue: '0', precision: 4, scale: 0 },
    weight: { type: 'double', minimum: 0.5 },
    isNew: { type: 'boolean' },
    day: { type: 'date', minimum: '2020-01-01' },
    local: { type: 'dateTime' },
    made: { type: 'instant', generated: 'now' },
    extra: { type: 'json' },
    long: { type: 'text' },
  })
  expect(ofFields('ThingsItem')).toMatchObject({
    changed: { type: 'text', generated: 'code' },
    label: { type: 'text', computed: true },
  })
})

test('a field has the collection that it refers to, also as one of several fields', () => {
  expect(ofFields('SparePartsItem')).toMatchObject({
    thing: { references: { collection: 'things', fields: ['thing'] } },
    other: { references: { collection: 'things', fields: ['other'] } },
  })
  const parts = defineCollection({
    key: ['order', 'line'],
    fields: { order: integer(), line: integer() },
  })
  const returns = defineCollection({
    key: 'id',
    fields: { id: integer(), forOrder: integer(), forLine: integer() },
    references: [{ collection: 'parts', fields: ['forOrder', 'forLine'] }],
  })
  const both = readDocument({ applications: { shop: { collections: { parts, returns } } } })
  const references = { collection: 'parts', fields: ['forOrder', 'forLine'] }
  expect(ofFields('ReturnsItem', both)).toMatchObject({
    forOrder: { references },
    forLine: { references },
  })
})

const secret = defineCollection({
  key: 'id',
  titleField: 'name',
  fields: {
    id: integer({ default: 'database' }),
    name: text({ readableBy: ['Boss'] }),
    notes: text({ multiline: true, label: 'Notes' }),
  },
})

test('the field that names an item is left out for callers who cannot read it', () => {
  const titleFor = (roles: readonly string[]): unknown =>
    readDocument({ applications: { shop: { collections: { secret } } } }, { roles }).operation(
      'get',
      '/shop/secret',
    )
  expect(titleFor(['Boss'])).toMatchObject({ 'x-rowgate': { title: 'name' } })
  expect(titleFor([])).not.toMatchObject({ 'x-rowgate': { title: 'name' } })
})

test('a text of several lines and the default of a column are marked', () => {
  const described = readDocument({ applications: { shop: { collections: { secret } } } })
  expect(ofFields('SecretInsert', described)).toEqual({
    id: { type: 'integer', generated: 'database' },
    name: { type: 'text' },
    notes: { type: 'text', multiline: true },
  })
})

test('titleField must name a field that lists contain', () => {
  const create = (titleField: string) =>
    createService({
      applications: {
        shop: {
          collections: {
            things: {
              titleField,
              fields: {
                day: date(),
                price: decimal({ precision: 3, scale: 1 }),
                long: text({ itemOnly: true }),
              },
            },
          },
        },
      },
      storage: memoryStorage(),
      security: openAccess(),
    })
  expect(() => create('nmae')).toThrow('things.titleField: nmae is not a field; the fields are')
  expect(() => create('long')).toThrow('things.titleField: long cannot be used here because of its')
  expect(() => create('day')).not.toThrow()
})
