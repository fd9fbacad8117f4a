import { expect, test } from 'vitest'
import {
  bigint,
  decimal,
  double,
  instant,
  integer,
  json,
  text,
  uuid,
} from '../../src/entries/index.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { acceptedRow } from '../../src/request/item-values.ts'
import { completeRow } from '../../src/request/item-values.ts'
import { decideFindings } from '../../src/request/findings.ts'
import { searchText } from '../../src/request/query.ts'
import {
  checkSubmitted,
  echoOf,
  inDefinitionOrder,
  requiredFaults,
} from '../../src/request/submitted.ts'
import { wholeView } from '../../src/request/view.ts'

const things = publishCollection('app', 'things', {
  key: 'id',
  fields: {
    id: uuid({ generated: 'uuid' }),
    name: text({ maxLength: 5 }),
    price: decimal({ precision: 6, scale: 2, default: '1' }),
    large: bigint(),
    at: instant({ generated: 'now' }),
    size: integer({ default: () => 7 }),
    data: json(),
  },
})

test('submitted values are brought to their canonical form', () => {
  const { values, faults } = checkSubmitted(things, {
    id: '0A000000-0000-4000-8000-00000000000B',
    price: '1.5',
    large: 5,
    at: '2024-01-01T00:00:00.000Z',
    data: { b: 1, a: [] },
  })
  expect(faults).toEqual([])
  expect(values).toEqual({
    id: '0a000000-0000-4000-8000-00000000000b',
    price: '1.50',
    large: '5',
    at: '2024-01-01T00:00:00Z',
    data: '{"b":1,"a":[]}',
  })
})

test('mistakes do not contain values, and the echo repeats the body', () => {
  const sent = { name: 'too long', size: 'x', large: '5', nope: 1 }
  const submitted = checkSubmitted(things, sent)
  const { values, faults } = submitted
  expect(values).toEqual({ large: '5' })
  expect(faults.map(({ field }) => field)).toEqual(['name', 'size', 'nope'])
  expect(echoOf(things, submitted)).toEqual({ name: 'too long', size: 'x', large: '5' })
})

test('mistakes come in definition order, including the mistakes of the integer', () => {
  const body = { size: 1, nope: 1, large: 'x', name: 'too long' }
  const { faults } = checkSubmitted(things, body, [], new Set(['size', 'name']))
  expect(faults.map(({ field }) => field)).toEqual(['name', 'large', 'size', 'nope'])
})

test('the echo leaves out a json value of more than 1000 characters, and cuts a string there', () => {
  const jsonOf = (length: number) => ['x'.repeat(length - 4)]
  expect(JSON.stringify(jsonOf(1000))).toHaveLength(1000)
  expect(echoOf(things, checkSubmitted(things, { data: jsonOf(1000) }))).toEqual({
    data: jsonOf(1000),
  })
  expect(echoOf(things, checkSubmitted(things, { data: jsonOf(1001) }))).toEqual({})
  expect(
    echoOf(things, checkSubmitted(things, { data: { a: 'x'.repeat(5000) }, large: 1 })),
  ).toEqual({
    large: 1,
  })
  const echo = echoOf(things, checkSubmitted(things, { name: 'x'.repeat(1001) }))
  expect(echo).toEqual({ name: 'x'.repeat(1000) })
})

test('the echo has no broken Unicode', () => {
  const echo = echoOf(things, checkSubmitted(things, { name: 'a\ud800', data: ['\ud800'] }))
  expect(echo).toEqual({ name: 'a\ufffd', data: ['\ud800'] })
})

test('an undefined field is treated as absent', () => {
  const submitted = checkSubmitted(things, { name: undefined, size: 3 })
  const { values, faults } = submitted
  expect({ values, faults }).toEqual({ values: { size: 3 }, faults: [] })
  expect(echoOf(things, submitted)).toEqual({ size: 3 })
})

test('the key of the path may be repeated in a body, but not changed', () => {
  const key = ['0a000000-0000-4000-8000-00000000000b']
  expect(checkSubmitted(things, { id: key[0]?.toUpperCase() }, key).faults).toEqual([])
  expect(
    checkSubmitted(things, { id: '0a000000-0000-4000-8000-00000000000c' }, key).faults,
  ).toEqual([
    {
      message: 'id is the key of the item and cannot be changed.',
      severity: 'error',
      field: 'id',
    },
  ])
})

test('an unknown field is an error that repeats the start of its name', () => {
  const { faults } = checkSubmitted(things, { ['n'.repeat(300)]: 1, '\ud800': 1 })
  expect(faults).toEqual([
    {
      message: `Unknown field: ${'n'.repeat(64)}.`,
      severity: 'error',
      field: 'n'.repeat(256),
    },
    { message: 'Unknown field: \ufffd.', severity: 'error', field: '\ufffd' },
  ])
})

test('at most 100 unknown fields are listed', () => {
  const body = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`n${index}`, 1]))
  const fields = checkSubmitted(things, body).faults.map(({ field }) => field)
  expect(fields).toEqual(Object.keys(body).slice(0, 100))
})

test('a rounded number is an error of fields for integers', () => {
  const mixed = publishCollection('app', 'mixed', {
    fields: { count: integer(), large: bigint(), ratio: double(), data: json() },
  })
  const body = { count: 1, large: 2, ratio: 0.5, data: 4, nope: 5 }
  const { faults, values } = checkSubmitted(mixed, body, [], new Set(Object.keys(body)))
  expect(faults.map(({ message }) => message)).toEqual([
    'count must be an integer within ±(2^53 − 1).',
    'large must be a 64-bit integer, written as a string of digits.',
    'Unknown field: nope.',
  ])
  expect(values).toEqual({ ratio: 0.5, data: '4' })
  expect(checkSubmitted(mixed, { count: 1 }, [], new Set()).faults).toEqual([])
})

test('the echo repeats null and a value that JSON does not have', () => {
  expect(echoOf(things, checkSubmitted(things, { name: null, size: 5n }))).toEqual({
    name: null,
    size: 5n,
  })
})

test('a required field without a value is an error if it is among the checked ones', () => {
  const strict = publishCollection('app', 'strict', {
    key: 'id',
    fields: { id: integer(), name: text({ required: true }), note: text() },
  })
  const faults = requiredFaults(strict, { name: null }, () => true)
  expect(faults).toEqual([
    { message: 'id is required.', severity: 'error', field: 'id' },
    { message: 'name is required.', severity: 'error', field: 'name' },
  ])
  expect(requiredFaults(strict, {}, ({ inKey }) => inKey)).toEqual(faults.slice(0, 1))
  expect(requiredFaults(strict, { id: 0, name: '' }, () => true)).toEqual([])
})

test('entries are in definition order, and those without a known field come last', () => {
  const entry = (message: string, field?: string) =>
    ({ message, severity: 'error', ...(field !== undefined && { field }) }) as const
  const entries = [
    entry('1'),
    entry('2', 'nope'),
    entry('3', 'size'),
    entry('4', 'id'),
    entry('5', 'size'),
  ]
  const order = inDefinitionOrder(things, entries).map(({ message }) => message)
  expect(order.join('')).toBe('43512')
})

test('a new item is completed with defaults and generated values', () => {
  const now = () => new Date('2024-02-29T12:00:00.000Z')
  const item = completeRow(things, { name: 'a', size: null }, now)
  expect(item).toMatchObject({ name: 'a', price: '1.00', size: null, data: null })
  expect(item['at']).toBe('2024-02-29T12:00:00Z')
  expect(completeRow(things, {}, now)['size']).toBe(7)
  expect(completeRow(things, {}, now)['id']).not.toBe(item['id'])
})

test('an item of a handler is accepted in canonical form, or is a TypeError', () => {
  expect(acceptedRow(things, { price: '2', size: undefined as never })).toEqual({
    price: '2.00',
    size: null,
  })
  for (const wrong of [{ nope: 1 }, { price: 2 }, { name: new Date() }, { data: new Map() }]) {
    expect(() => acceptedRow(things, wrong as never)).toThrow(TypeError)
  }
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  expect(() => acceptedRow(things, { data: circular as never })).toThrow(TypeError)
})

const subject = {
  view: wholeView(things),
  event: 'Insert',
  key: [],
  data: { name: 'a', size: 1 },
} as const
const finding = { severity: 'warning', name: 'w', message: 'm', field: undefined } as const

test('the id of a warning depends on rule, event, key and data, and not on order or message', async () => {
  const idOf = async (one: object, where: object) => {
    const judged = await decideFindings(
      [{ ...finding, ...one }],
      { ...subject, ...where },
      new Set(),
    )
    return judged.blocking[0]?.validationId
  }
  const id = await idOf({}, {})
  expect(id).toMatch(/^[0-9a-f]{32}$/)
  expect(await idOf({ message: 'other' }, { data: { size: 1, name: 'a' } })).toBe(id)
  const others = [
    await idOf({ name: 'v' }, {}),
    await idOf({ field: 'name' }, {}),
    await idOf({}, { event: 'Update' }),
    await idOf({}, { key: ['k'] }),
    await idOf({}, { data: { name: 'a', size: 2 } }),
    await idOf({}, { data: { name: 'a' } }),
    await idOf({}, { data: { name: 'a', size: 1, data: null } }),
  ]
  expect(new Set([id, ...others]).size).toBe(others.length + 1)
})

test('errors and open warnings object, information does not, confirmed warnings are dropped', async () => {
  const findings = [
    { ...finding, severity: 'information', field: 'size' },
    { ...finding, name: 'x', field: 'size' },
    { ...finding, severity: 'error', field: 'name' },
    { ...finding, severity: 'error' },
  ] as const
  const open = await decideFindings(findings, subject, new Set())
  expect(open.blocking.map(({ severity, field }) => [severity, field])).toEqual([
    ['error', 'name'],
    ['warning', 'size'],
    ['error', undefined],
  ])
  expect(open.information).toEqual([{ message: 'm', severity: 'information', field: 'size' }])
  const id = open.blocking[1]?.validationId ?? ''
  expect((await decideFindings(findings, subject, new Set([id]))).blocking).toHaveLength(2)
  expect((await decideFindings(findings, subject, 'all')).blocking).toHaveLength(2)
})

test.each([
  ['ÀÉİ', 'àéi\u0307'],
  ['ΑΣ ΑΣ', 'ασ ασ'],
  ['ας', 'ας'],
  ['\u212A', 'k'],
  ['ẞß', 'ßß'],
  ['ﬁ\u0301', 'ﬁ\u0301'],
])('$q takes %s for %s', (text, folded) => {
  expect(searchText(text)).toBe(folded)
})
