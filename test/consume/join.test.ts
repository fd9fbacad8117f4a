import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connection, endpoint, rule } from '../../src/entries/consume.ts'
import { joinResponse, tablesOf } from '../../src/consume/store-response.ts'
import { callerReader } from '../../src/consume/rules/caller-reader.ts'
import { RuleError } from '../../src/consume/rules/rule-error.ts'
import { defineCollection, integer, json, text } from '../../src/entries/index.ts'
import type { Json } from '../../src/protocol/json.ts'
import { typed } from '../../src/consume/schema.ts'
import { caught } from '../kit/expectations.ts'

function joinTables(
  rules: Parameters<typeof joinResponse>[0]['rules'],
  tables: ReturnType<typeof tablesOf>,
  caller: ReturnType<typeof callerReader>,
) {
  return joinResponse({ rules, tables, caller }).items
}

const api = connection({ baseUrl: 'https://api.example' })

interface Scan {
  readonly code: string
}
interface Parcel {
  readonly no: string
  readonly grams?: number | null
  readonly scans?: readonly Scan[]
  readonly box?: { readonly depth: number } | null
}
interface Shipment {
  readonly id: string
  readonly carrier?: { readonly name: string }
  readonly parcels?: readonly Parcel[]
  readonly tags?: readonly (string | null)[]
}

const shipments = endpoint(api, {
  name: 'list-shipments',
  path: '/shipments',
  response: typed<readonly Shipment[]>(),
})

const values = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    a: text(),
    b: text(),
    c: text(),
    d: integer(),
    e: integer(),
    f: json(),
  },
})

const scans = rule(shipments, {
  from: 'parcels/scans',
  into: values,
  where: ({ row, parent }) => row.code !== 'X' && parent.grams !== 0,
  set: {
    a: 'code',
    b: { parent: 'no' },
    c: { root: 'carrier/name' },
    d: { of: 'parcels', column: 'grams' },
    e: ({ index }) => index,
    f: ({ caller }) => (caller('sent') as Json | undefined) ?? null,
  },
})
const parcels = rule(shipments, {
  from: 'parcels',
  into: values,
  set: {
    a: 'no',
    b: ({ root }) => root.id,
    c: ({ below }) =>
      below('parcels/scans')
        .map(({ code }) => code)
        .join(),
    d: 'box/depth',
    e: { value: 7 },
    f: { caller: 'sent' },
  },
})
const roots = rule(shipments, {
  into: values,
  set: { a: 'id', b: { root: 'id' }, c: ({ below }) => String(below('tags')[0]?.value ?? null) },
})

/** The same join by loops over the response. */
function naive(response: readonly Shipment[], sent: string): unknown[] {
  const items: unknown[] = []
  for (const { carrier, parcels: own = [] } of response) {
    for (const { no, grams = null, scans: of = [] } of own) {
      for (const [index, { code }] of of.entries()) {
        if (code === 'X' || grams === 0) continue
        items.push({ a: code, b: no, c: carrier?.name ?? null, d: grams, e: index, f: sent })
      }
    }
  }
  for (const { id, parcels: own = [] } of response) {
    for (const { no, scans: of = [], box } of own) {
      const codes = of.map(({ code }) => code).join()
      items.push({ a: no, b: id, c: codes, d: box?.depth ?? null, e: 7, f: sent })
    }
  }
  for (const { id, tags = [] } of response) items.push({ a: id, b: id, c: String(tags[0] ?? null) })
  return items
}

test('rules give what loops over the response give, for 2000 responses', () => {
  const word = fc.constantFrom('A', 'X', '', 'é')
  const some = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 3 })
  const parcel = fc.record(
    {
      no: word,
      grams: fc.constantFrom(0, 1, null),
      scans: some(fc.record({ code: word })),
      box: fc.constantFrom(null, { depth: 3 }),
    },
    { requiredKeys: ['no'] },
  )
  const shipment = fc.record(
    {
      id: word,
      carrier: fc.record({ name: word }),
      parcels: some(parcel),
      tags: some(fc.constantFrom('t', null)),
    },
    { requiredKeys: ['id'] },
  )
  const property = fc.property(some(shipment), word, (response, sent) => {
    const rules = [scans, parcels, roots] as never
    const items = joinTables(rules, tablesOf(response), callerReader({ sent }))
    expect(items.map((item) => item.values)).toEqual(naive(response as Shipment[], sent))
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a response without body has no rows', () => {
  expect(joinTables([roots as never], tablesOf(null), callerReader({}))).toEqual([])
})

test('the entries of a dictionary are joined with their keys', () => {
  const rates = endpoint(api, {
    name: 'rates',
    path: '/',
    response: typed<{ base: string; rates: Record<string, number> }>(),
  })
  const rows = rule(rates, {
    from: 'rates',
    into: values,
    set: { a: ({ key }) => key, b: { root: 'base' }, e: 'value' },
  })
  const tables = tablesOf({ base: 'EUR', rates: { USD: 1, GBP: 2 } }, { entries: ['rates'] })
  expect(joinTables([rows as never], tables, callerReader({})).map((item) => item.values)).toEqual([
    { a: 'USD', b: 'EUR', e: 1 },
    { a: 'GBP', b: 'EUR', e: 2 },
  ])
})

test('a column named like a member of every object is null where it is absent', () => {
  const any = endpoint(api, { name: 'any', path: '/' })
  const odd = rule(any, { into: values, set: { a: 'constructor', b: { caller: 'toString' } } })
  const [item] = joinTables([odd], tablesOf({}), callerReader({}))
  expect(item?.values).toEqual({ a: null, b: null })
})

describe('a rule whose function fails is a RuleError', () => {
  const any = endpoint(api, { name: 'any', path: '/' })
  const response = { list: [{ secret: 1 }, { secret: 2 }] }
  test.each([
    ['throws', { set: { a: () => failing() } }, 'set.a threw an error'],
    ['where throws', { set: {}, where: failing }, 'where threw an error'],
    ['returns a promise', { set: { a: () => Promise.reject(new Error()) } }, 'a promise'],
  ])('%s', (_what, options, reason) => {
    const failed = rule(any, { from: 'list', into: values, ...options } as never)
    const error = caught(() => joinTables([failed], tablesOf(response), callerReader({})))
    expect(error).toBeInstanceOf(RuleError)
    expect(error).toMatchObject({ rule: 'any/list', table: 'any/list', row: 2, pointer: '/list/0' })
    expect(error.message).toContain(`The rule any/list failed at row 2 of any/list (/list/0): `)
    expect(error.message).toContain(reason)
  })
})

describe('the same key twice', () => {
  const any = endpoint(api, { name: 'any', path: '/' })
  const codes = defineCollection({ key: ['code', 'no'], fields: { code: text(), no: integer() } })
  const options = { into: codes, upsertBy: ['no', 'code'], set: { code: 'c', no: 'n' } } as const
  const response = [
    { c: 'a', n: 1 },
    { c: 'b', n: 1 },
    { c: 'a', n: 1 },
  ]
  const join = (own: object) =>
    joinTables([rule(any, { ...options, ...own })], tablesOf(response), callerReader({}))

  test('is an error that names both rows', () => {
    const error = caught(() => join({}))
    expect(error.message).toBe(
      'The rule any failed at row 3 of any (/2): row 1 has the same code, no.',
    )
  })

  test('is allowed with repeated: last, and the last row counts', () => {
    expect(join({ repeated: 'last' }).map(({ row }) => row.id)).toEqual([3, 2])
  })
})

describe('a rule is checked where it is declared', () => {
  const any = endpoint(api, { name: 'any', path: '/' })
  const people = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      name: text({ required: true }),
      age: integer(),
      at: text({ readOnly: true, required: true }),
    },
  })
  const set = { id: 'id', name: 'name' }
  test.each<[string, object, string]>([
    [
      'an unknown field',
      { set: { ...set, nam: 'x' } },
      'rule of any.set.nam: is not a field; did you mean name?',
    ],
    ['a missing required field', { set: { id: 'id' } }, 'rule of any.set.name: is missing'],
    ['a missing key', { set: { name: 'n' } }, 'rule of any.set.id: is missing'],
    ['an unknown option', { set, form: 'a' }, 'did you mean from?'],
    ['a name', { set: {}, name: 'mine' }, 'rule mine.set.id'],
    [
      'a constant of the wrong type',
      { set: { ...set, age: { value: '1' } } },
      'set.age: the value must be an integer',
    ],
    [
      'a source of the wrong form',
      { set: { ...set, age: { row: 'x' } } },
      'set.age: must be a column',
    ],
    ['a number as a source', { set: { ...set, age: 5 } }, 'set.age: must be a column'],
    [
      'a parent of the root',
      { set: { ...set, age: { parent: 'x' } } },
      'set.age: a row of the root has no parent',
    ],
    [
      'a table that is not above',
      { from: 'a/b', set: { ...set, age: { of: 'c', column: 'x' } } },
      'set.age: c does not contain the rows of a/b',
    ],
    [
      'an unknown type of the caller',
      { set: { ...set, age: { caller: 'x', type: 'int' } } },
      'set.age: the type must be one of text',
    ],
    [
      'an unknown field of the caller',
      { caller: people, set: { ...set, age: { caller: 'agee' } } },
      'set.age: agee is not a field of caller; did you mean age?',
    ],
    [
      'an upsert by another field',
      { set, upsertBy: ['name'] },
      'upsertBy: must be the key of the collection: id',
    ],
    ['repeated without upsert', { set, repeated: 'last' }, 'repeated: needs upsertBy'],
    ['something else than a collection', { set, into: {} }, 'into: must be a collection'],
  ])('%s', (_what, options, message) => {
    const error = caught(() => rule(any, { into: people, ...options } as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain(message)
  })

  test('an upsert needs a key', () => {
    const keyless = defineCollection({ fields: { a: text() } })
    const options = { into: keyless, upsertBy: ['a'], set: {} } as never
    expect(() => rule(any, options)).toThrow('upsertBy: the collection has no key')
  })

  test('an option that is undefined is absent', () => {
    const given = {
      into: people,
      set: { ...set, age: undefined },
      from: undefined,
      where: undefined,
    }
    expect(rule(any, given as never)).toMatchObject({ name: 'any', from: null })
  })

  test('a required field that not every user can set needs no source', () => {
    const into = defineCollection({
      key: 'id',
      fields: {
        id: integer(),
        tenant: text({ required: true, writableBy: [] }),
        margin: integer({ required: true, readableBy: ['Chief'] }),
        level: integer({ required: true, readableBy: [], writableBy: 'everyone' }),
      },
    })
    expect(rule(any, { into, set: { id: 'id', level: 'level' } }).into).toBe(into)
    const less: object = { into, set: { id: 'id' } }
    expect(() => rule(any, less as never)).toThrow('set.level: is missing')
  })
})

describe('caller', () => {
  const caller = callerReader({
    t: 'x',
    n: 5,
    u: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
    b: true,
    no: null,
    f: 'false',
    o: {},
    d: '1.50',
  })
  test.each([
    ['a value', caller('n'), 5],
    ['a field without a value', caller('no'), null],
    ['an unknown field', caller('nope'), null],
    ['a member of every object', caller('constructor'), null],
    ['a number as text', caller('n', 'text'), '5'],
    ['a text as number', caller('d', 'number'), 1.5],
    ['a UUID in lower case', caller('u', 'uuid'), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['a boolean', caller('b', 'boolean'), true],
    ['a text as boolean', caller('f', 'boolean'), false],
    ['null as any type', caller('no', 'uuid'), null],
  ])('returns %s', (_what, value, expected) => {
    expect(value).toBe(expected)
  })

  test.each([
    ['t', 'number'],
    ['t', 'uuid'],
    ['t', 'boolean'],
    ['b', 'number'],
    ['o', 'text'],
  ] as const)('throws a TypeError without the value if %s is not a %s', (name, type) => {
    const message = `caller: the value of ${name} cannot be converted to ${type}.`
    expect(() => caller(name, type)).toThrow(new TypeError(message))
  })

  test('throws a TypeError for an unknown type', () => {
    expect(() => caller('t', 'toString' as never)).toThrow('must be one of text, number')
  })
})

function failing(): never {
  throw new Error('secret')
}
