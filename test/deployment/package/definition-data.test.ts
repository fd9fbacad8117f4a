import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  applicationsOf,
  definitionData,
  omittedCode,
} from '../../../src/deployment/package/definition-data.ts'
import { jsonOf } from '../../../src/deployment/package/manifest.ts'
import { definitionsFile } from '../../../src/deployment/package/write-package.ts'
import {
  json,
  parseJson,
  readApplications,
  stringifyJson,
  type ApplicationDefinitions,
} from '../../../src/entries/index.ts'
import { publishCollection } from '../../../src/entries/storage.ts'
import { applications, reversed, withCode } from './release.ts'

const options = {
  includeByDefault: fc.boolean(),
  required: fc.boolean(),
  readOnly: fc.boolean(),
  search: fc.boolean(),
  readableBy: fc.array(fc.string({ minLength: 1 }), { maxLength: 2 }),
  writableBy: fc.oneof(
    fc.array(fc.string({ minLength: 1 }), { maxLength: 2 }),
    fc.constant('everyone'),
  ),
  description: fc.string({ unit: 'grapheme' }),
}
const field = fc.oneof(
  fc.record(
    { ...options, type: fc.constant('text'), default: fc.string(), minLength: fc.constant(0) },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      ...options,
      type: fc.constant('integer'),
      enumeration: fc.constant([1, 2]),
      default: fc.constant(2),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { ...options, type: fc.constant('json'), default: fc.jsonValue({ maxDepth: 3 }) },
    { requiredKeys: ['type'] },
  ),
  fc.record({
    type: fc.constant('decimal'),
    precision: fc.integer({ min: 5, max: 38 }),
    scale: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({
    type: fc.constantFrom(
      'bigint',
      'double',
      'boolean',
      'date',
      'time',
      'dateTime',
      'instant',
      'uuid',
    ),
  }),
)
const endpoint = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,20}$/)
const role = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 })
const collection = fc.record(
  {
    key: fc.constantFrom('id', ['id'], ['id', 'part']),
    fields: fc
      .dictionary(fc.stringMatching(/^[\p{L}_][\p{L}\p{N}_]{1,10}$/u), field, { maxKeys: 5 })
      .map((others) => ({
        ...withoutTaken(others),
        part: { type: 'integer' },
        id: { type: 'uuid' },
      })),
    pageSize: fc.record(
      { default: fc.nat(50), maximum: fc.integer({ min: 50, max: 5000 }) },
      { requiredKeys: ['maximum'] },
    ),
    roles: role,
    eventRoles: fc.record({ Filter: role, Delete: role }, { requiredKeys: [] }),
    rows: fc.record(
      {
        equal: fc.constantFrom(
          { part: 5 },
          { part: null },
          { id: { attribute: 'a' }, part: 1 },
          { id: { principal: 'user' } },
        ),
        exceptRoles: role,
      },
      { requiredKeys: ['equal'] },
    ),
    table: fc.string({ minLength: 1 }),
    cache: fc.boolean(),
    description: fc.string(),
  },
  { requiredKeys: ['key', 'fields'] },
)
const definitions = fc
  .dictionary(
    endpoint,
    fc.record(
      {
        collections: fc.dictionary(endpoint, collection, { maxKeys: 3 }),
        roles: role,
        description: fc.string(),
      },
      { requiredKeys: ['collections'] },
    ),
    { maxKeys: 3 },
  )
  .map((made) => made as unknown as ApplicationDefinitions)
  .filter(tablesDiffer)

// Collections that share a table have to say so.
function tablesDiffer(made: ApplicationDefinitions): boolean {
  const tables = Object.values(made).flatMap(({ collections }) =>
    Object.entries(collections).map(([name, { table = name }]) => table.toLowerCase()),
  )
  return new Set(tables).size === tables.length
}

function withoutTaken(fields: Record<string, unknown>): Record<string, unknown> {
  // A column is named without regard to case, and some names are JavaScript's own.
  const seen = new Set(['id', 'part'])
  const free = Object.entries(fields).filter(([name]) => {
    const fresh = !seen.has(name.toLowerCase()) && !(name in Object.prototype)
    seen.add(name.toLowerCase())
    return fresh
  })
  return Object.fromEntries(free)
}

/** Everything that start-up knows of all collections, for comparison. */
function published(all: ApplicationDefinitions): unknown {
  return Object.keys(all)
    .sort()
    .map((application) => {
      const { collections = {}, roles } = all[application] ?? {}
      return Object.keys(collections)
        .sort()
        .map((name) => {
          const declared = collections[name]
          if (declared === undefined) throw new Error('lost')
          const whole = publishCollection(application, name, declared, {
            maxPageSize: 5000,
            roles,
          })
          const {
            definition,
            fields,
            byName: _byName,
            responseFields: _responseFields,
            key,
            tieBreakers,
            ...rest
          } = whole
          // Functions can't be compared; they follow from the other members.
          const plain = ({ kind: _kind, ...known }: (typeof fields)[number]) =>
            Object.fromEntries(
              Object.entries(known).filter(([, member]) => typeof member !== 'function'),
            )
          return {
            ...rest,
            description: definition.description,
            fields: fields.map(plain),
            key: key.map(({ name: part }) => part),
            tieBreakers: tieBreakers.map(({ name: part }) => part),
          }
        })
    })
}

test('definitions without code come back as the same collections', () => {
  fc.assert(
    fc.property(definitions, (made) => {
      const text = JSON.stringify(definitionData(made))
      const back = applicationsOf(JSON.parse(text))
      expect(published(back)).toEqual(published(made))
      expect(omittedCode(made)).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('the order of applications, collections and options does not matter; the order of fields does', () => {
  const text = (all: ApplicationDefinitions) => JSON.stringify(definitionData(all))
  const other = reversed(applications, ['fields', 'extra', 'default'])
  expect(JSON.stringify(other)).not.toBe(JSON.stringify(applications))
  expect(text(other)).toBe(text(applications))
  expect(text(reversed(applications))).not.toBe(text(applications))
  const fields = definitionData(applications) as never as typeof applications
  expect(Object.keys(fields['sales']?.collections['orders']?.fields ?? {})).toEqual([
    'year',
    'number',
    'customer',
    'amount',
    'extra',
  ])
})

test('a json default keeps the order of its members', () => {
  expect(JSON.stringify(definitionData(applications))).toContain('{"z":1,"a":[1,{"c":2,"b":3}]}')
})

test('code is left out, and its places are marked', () => {
  const data = definitionData(withCode)
  expect(data).toEqual({
    sales: {
      collections: {
        orders: {
          key: 'id',
          fields: { id: { type: 'integer' }, name: { type: 'text' } },
          omittedCode: [
            'events.Filter.after',
            'events.Insert.before',
            'fields.name.default',
            'rows',
            'userDefinedEvents.ship',
            'validations.no-name',
          ],
        },
      },
    },
  })
  expect(readApplications(data)).toEqual(data)
  const place = 'applications.sales.collections.orders'
  expect(omittedCode(withCode)).toEqual([
    `${place}.events.Filter.after`,
    `${place}.events.Insert.before`,
    `${place}.fields.name.default`,
    `${place}.rows`,
    `${place}.userDefinedEvents.ship`,
    `${place}.validations.no-name`,
  ])
})

test('code that was left out before, and new code, are listed together in order', () => {
  const { orders } = withCode['sales']?.collections ?? {}
  if (orders === undefined) throw new Error('There are no orders.')
  const before = { fields: orders.fields, omittedCode: ['rows', 'events.Insert.before'] }
  const collections = { orders: { ...before, validations: orders.validations ?? [] } }
  expect(definitionData({ sales: { collections } })).toMatchObject({
    sales: {
      collections: {
        orders: {
          omittedCode: [
            'events.Insert.before',
            'fields.name.default',
            'rows',
            'validations.no-name',
          ],
        },
      },
    },
  })
})

test('the result is a copy', () => {
  const data = definitionData(applications) as never as {
    sales: { collections: { orders: { fields: { extra: { default: { z: number } } } } } }
  }
  data.sales.collections.orders.fields.extra.default.z = 2
  expect(JSON.stringify(definitionData(applications))).toContain('{"z":1')
})

test('a default of a json field keeps its digits and its order in a package', () => {
  const text = '{"10":1.10,"2":12345678901234567890.5}'
  const orders = { fields: { extra: json({ default: parseJson(text) }) } }
  const { bytes } = definitionsFile({ sales: { collections: { orders } } })
  const written = Buffer.from(bytes).toString()
  expect(written).toContain(
    '"default": {\n              "10": 1.10,\n              "2": 12345678901234567890.5\n',
  )
  const read = applicationsOf(jsonOf(Buffer.from(bytes), 'definitions.json'))
  expect(stringifyJson(read['sales']?.collections['orders']?.fields['extra']?.default)).toBe(text)
  const again = definitionsFile(read)
  expect(Buffer.from(again.bytes).toString()).toBe(written)
})
