import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bigint, dateTime, decimal, integer, text, uuid } from '../../src/entries/index.ts'
import { encodeKey } from '../../src/protocol/key.ts'
import { encodePath } from '../../src/protocol/path.ts'
import { hasPath, keyFaults } from '../../src/request/item-path.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const named = publishCollection('app', 'named', { key: 'name', fields: { name: text() } })
const pairs = publishCollection('app', 'pairs', {
  key: ['name', 'part'],
  fields: { part: integer(), name: text(), note: text() },
})

function messages(...given: Parameters<typeof keyFaults>): readonly string[] {
  return keyFaults(...given).map(({ message }) => message)
}

test('a key that no path can contain is an error', () => {
  expect(messages(named, { name: '..' })).toEqual(['name must not be a dot segment.'])
  expect(messages(named, { name: '' })).toEqual(['name must not be empty.'])
  expect(keyFaults(named, { name: 'a,b' })).toEqual([])
  expect(keyFaults(named, { name: null })).toEqual([])
  expect(keyFaults(pairs, { name: '..', part: 1, note: '' })).toEqual([])
  expect(messages(pairs, { name: 'a,b', part: 1 })).toEqual(['name must not contain a comma.'])
  expect(hasPath(named, ['..'])).toBe(false)
  expect(hasPath(pairs, ['a,b', 1])).toBe(false)
  expect(hasPath(pairs, ['..', 1])).toBe(true)
})

test('a key that is too long for a target is an error on each of its fields', () => {
  const room = 8192 - '/rest/v1/app/named/'.length
  expect(named.maxKeyLength).toBe(room)
  expect(keyFaults(named, { name: 'x'.repeat(room) })).toEqual([])
  expect(keyFaults(named, { name: 'x'.repeat(room + 1) })).toEqual([
    {
      message: `name makes the key of the item longer than ${room} bytes, percent-encoded.`,
      severity: 'error',
      field: 'name',
    },
  ])
  const short = pairs.maxKeyLength - '%2C12'.length
  expect(keyFaults(pairs, { name: 'x'.repeat(short), part: 12 })).toEqual([])
  const long = keyFaults(pairs, { name: 'x'.repeat(short), part: 123 })
  expect(long.map(({ field }) => field)).toEqual(['name', 'part'])
  expect(hasPath(pairs, ['x'.repeat(short), 12])).toBe(true)
  expect(hasPath(pairs, ['x'.repeat(short), 123])).toBe(false)
})

test('a part that storage generates counts as the longest number', () => {
  const numbered = publishCollection('app', 'numbered', {
    key: ['name', 'id'],
    fields: { name: text(), id: bigint({ default: 'database' }) },
  })
  const room = numbered.maxKeyLength - '%2C-9223372036854775808'.length
  expect(keyFaults(numbered, { name: 'x'.repeat(room), id: null })).toEqual([])
  expect(keyFaults(numbered, { name: 'x'.repeat(room + 1), id: null })).toHaveLength(2)
})

test('a key without text is compared with the limit only if that is very low', () => {
  const definition = {
    key: ['id', 'at', 'amount'],
    fields: { id: uuid(), at: dateTime(), amount: decimal({ precision: 38, scale: 2 }) },
  } as const
  expect(publishCollection('app', 'several', definition).maxKeyLength).toBe(Infinity)
  const low = publishCollection('app', 'several', definition, { maxTargetLength: 100 })
  const values = { id: crypto.randomUUID(), at: '2024-01-01T00:00:00', amount: '1.00' }
  expect(low.maxKeyLength).toBe(100 - '/rest/v1/app/several/'.length)
  expect(keyFaults(low, values)).toHaveLength(0)
  expect(keyFaults(low, { ...values, amount: `${'1'.repeat(36)}.00` })).toHaveLength(3)
  const none = publishCollection('app', 'several', definition, { maxTargetLength: 1 })
  expect(none.maxKeyLength).toBe(0)
})

test('every key without an error has a path of the allowed length, whatever its characters are', () => {
  const maxTargetLength = 120
  const options = { maxTargetLength }
  const one = publishCollection('ap', 'one', { key: 'a', fields: { a: text() } }, options)
  const two = publishCollection(
    'ap',
    'two',
    { key: ['a', 'b'], fields: { a: text(), b: text() } },
    options,
  )
  const part = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ maxLength: 100 }),
    fc.nat({ max: 105 }).map((length) => 'x'.repeat(length)),
  )
  const property = fc.property(part, part, fc.constantFrom(one, two), (a, b, collection) => {
    const { application, name, key } = collection
    const parts = [a, b].slice(0, key.length)
    const target = encodePath({ application, collection: name, key: encodeKey(parts) })
    const isFree = keyFaults(collection, { a, b }).length === 0
    expect(hasPath(collection, parts)).toBe(isFree)
    if (isFree) expect(target.replace(',', '%2C').length).toBeLessThanOrEqual(maxTargetLength)
    else if (/^[\w-]+$/.test(parts.join('')) && parts.every((text) => text !== '')) {
      expect(target.replace(',', '%2C').length).toBeGreaterThan(maxTargetLength)
    }
  })
  fc.assert(property, { numRuns: 2000 })
})
