import { expect, test } from 'vitest'
import { error } from '../../src/entries/index.ts'
import { mistakesIn, sound } from './mistakes.ts'

const field = (declared: object) => ({ ...sound, fields: { ...sound.fields, it: declared } })
const check = () => undefined

/** Definitions with one mistake: the place that the message names, and a part of its advice. */
const mistaken: readonly (readonly [
  name: string,
  definition: unknown,
  place: string,
  advice: string,
])[] = [
  ['an unknown option of a collection', { ...sound, kye: 'id' }, 'kye', 'is not an option'],
  ['no fields', { fields: {} }, 'fields', 'at least one field'],
  ['a key that is not a field', { ...sound, key: 'nope' }, 'key', 'the fields are id, name'],
  [
    'a key that JavaScript knows',
    { ...sound, key: 'constructor' },
    'key',
    'constructor is not a field',
  ],
  ['a key that names a field twice', { ...sound, key: ['id', 'id'] }, 'key', 'once'],
  ['an empty key', { ...sound, key: [] }, 'key', ''],
  ['a json key', { key: 'a', fields: { a: { type: 'json' } } }, 'key', 'json'],
  ['another search', { ...sound, search: 'fast' }, 'search', 'indexed'],
  [
    'a search index without key',
    { fields: sound.fields, search: 'indexed' },
    'search',
    'needs a key',
  ],
  [
    'a search index of nothing',
    { key: 'id', fields: { id: { type: 'uuid', search: false } }, search: 'indexed' },
    'search',
    'searches no field',
  ],
  ['a double key', { key: 'a', fields: { a: { type: 'double' } } }, 'key', 'double'],
  ['an unknown event to publish', { ...sound, publishes: ['Change'] }, 'publishes.0', 'Filter'],
  [
    'Delete without key',
    { fields: sound.fields, publishes: ['Delete'] },
    'publishes',
    'needs a key',
  ],
  ['an unknown type', field({ type: 'string' }), 'fields.it.type', 'must be text, integer'],
  [
    'an unknown option of a field',
    field({ type: 'text', maxLenght: 1 }),
    'fields.it.maxLenght',
    'is not an option',
  ],
  [
    'an option of another type',
    field({ type: 'integer', maxLength: 1 }),
    'fields.it.maxLength',
    'is not an option',
  ],
  [
    'a length that is no number',
    field({ type: 'text', maxLength: '1' }),
    'fields.it.maxLength',
    'number',
  ],
  ['a length below zero', field({ type: 'text', minLength: -1 }), 'fields.it.minLength', ''],
  [
    'lengths the wrong way round',
    field({ type: 'text', minLength: 2, maxLength: 1 }),
    'fields.it.minLength',
    'at most maxLength',
  ],
  [
    'a broken pattern',
    field({ type: 'text', pattern: '(' }),
    'fields.it.pattern',
    'regular expression',
  ],
  [
    'a decimal without precision',
    field({ type: 'decimal', scale: 1 }),
    'fields.it.precision',
    'number',
  ],
  [
    'a scale above the precision',
    field({ type: 'decimal', precision: 2, scale: 3 }),
    'fields.it.scale',
    'at most the precision',
  ],
  [
    'an unknown stored form',
    field({ type: 'boolean', storedAs: 'yes/no' }),
    'fields.it.storedAs',
    'must be',
  ],
  [
    'a stored form of another type',
    field({ type: 'integer', storedAs: 'hex' }),
    'fields.it.storedAs',
    'is not an option',
  ],
  [
    'a decimal of 16 digits as a number',
    field({ type: 'decimal', precision: 16, scale: 2, storedAs: 'real' }),
    'fields.it.precision',
    'at most 15',
  ],
  [
    'a bound that the stored form cannot hold',
    field({ type: 'instant', storedAs: 'unixSeconds', minimum: '2024-01-01T00:00:00.500Z' }),
    'fields.it.minimum',
    'in the form YYYY-MM-DDThh:mm:ssZ',
  ],
  [
    'a default of the column beside a generated value',
    field({ type: 'uuid', generated: 'uuid', default: 'database' }),
    'fields.it.default',
    'leave it out',
  ],
  [
    'bounds the wrong way round',
    field({ type: 'bigint', minimum: '10', maximum: '9' }),
    'fields.it.minimum',
    'at most maximum',
  ],
  [
    'a bound of a wrong form',
    field({ type: 'date', minimum: '2024-02-30' }),
    'fields.it.minimum',
    'valid date',
  ],
  ['a default of a wrong type', field({ type: 'integer', default: '1' }), 'fields.it.default', ''],
  [
    'a default of a wrong form',
    field({ type: 'date', default: 'today' }),
    'fields.it.default',
    'valid date',
  ],
  [
    'a default that is too long',
    field({ type: 'text', maxLength: 1, default: 'ab' }),
    'fields.it.default',
    'at most 1',
  ],
  [
    'a default outside the enumeration',
    field({ type: 'text', enumeration: ['a'], default: 'b' }),
    'fields.it.default',
    'one of a',
  ],
  [
    'a default above the maximum',
    field({ type: 'integer', maximum: 1, default: 2 }),
    'fields.it.default',
    'at most 1',
  ],
  [
    'an enumeration without values',
    field({ type: 'text', enumeration: [] }),
    'fields.it.enumeration',
    '',
  ],
  [
    'an enumeration of wrong values',
    field({ type: 'uuid', enumeration: ['x'] }),
    'fields.it.enumeration',
    'UUID',
  ],
  [
    'generated and default',
    field({ type: 'date', generated: 'now', default: '2024-01-01' }),
    'fields.it.default',
    'leave',
  ],
  [
    'a generated number outside the key',
    field({ type: 'integer', generated: 'database' }),
    'fields.it.generated',
    'whole key',
  ],
  [
    'a field name with a dollar',
    { ...sound, fields: { ...sound.fields, $x: { type: 'text' } } },
    'fields.$x',
    'start with a letter',
  ],
  [
    'a field name that JavaScript uses',
    { ...sound, fields: { ...sound.fields, toString: { type: 'text' } } },
    'fields.toString',
    'JavaScript',
  ],
  ['two fields in one column', field({ type: 'text', column: 'NAME' }), 'fields.it', 'same column'],
  [
    'a column of a field that is left to the database',
    { ...field({ type: 'text', column: 'note' }), unmanaged: { columns: ['raw', 'note'] } },
    'unmanaged.columns.1',
    'the column of it',
  ],
  [
    'a former column that is the column itself',
    field({ type: 'text', renamedFrom: 'It' }),
    'fields.it.renamedFrom',
    'the column itself',
  ],
  [
    'a former column that another field has',
    field({ type: 'text', renamedFrom: 'name' }),
    'fields.it.renamedFrom',
    'the column of name',
  ],
  [
    'a former column of two fields',
    {
      ...sound,
      fields: {
        ...sound.fields,
        it: { type: 'text', renamedFrom: 'old' },
        other: { type: 'text', renamedFrom: 'OLD' },
      },
    },
    'fields.other.renamedFrom',
    'it was renamed from the same column',
  ],
  [
    'a page maximum above the maximum of the service',
    { ...sound, pageSize: { maximum: 101 } },
    'pageSize.maximum',
    'maxPageSize',
  ],
  [
    'a page default above the maximum',
    { ...sound, pageSize: { default: 6, maximum: 5 } },
    'pageSize.default',
    'at most the maximum, 5',
  ],
  [
    'a page default above the service',
    { ...sound, pageSize: { default: 101 } },
    'pageSize.default',
    '100',
  ],
  ['an unknown event', { ...sound, events: { Upsert: {} } }, 'events.Upsert', 'is not an option'],
  [
    'an unknown moment',
    { ...sound, events: { Filter: { committed: check } } },
    'events.Filter.committed',
    'is not an option',
  ],
  [
    'a handler that is no function',
    { ...sound, events: { Insert: { before: 'x' } } },
    'events.Insert.before',
    'function',
  ],
  [
    'two rules of one name',
    { ...sound, validations: [error('a', { check }), error('a', { check })] },
    'validations.1.name',
    'already',
  ],
  [
    'a rule about no field',
    { ...sound, validations: [error('a', { field: 'x' as never, check })] },
    'validations.0.field',
    'the fields are id, name',
  ],
  [
    'a rule about a name that JavaScript knows',
    { ...sound, validations: [error('a', { field: 'toString' as never, check })] },
    'validations.0.field',
    'is not a field',
  ],
  [
    'a rule without check',
    { ...sound, validations: [{ name: 'a', severity: 'error' }] },
    'validations.0',
    'check or schema',
  ],
  [
    'a rule of unknown severity',
    { ...sound, validations: [{ name: 'a', severity: 'fatal', check }] },
    'validations.0.severity',
    'error',
  ],
  [
    'a schema that is none',
    { ...sound, validations: [{ name: 'a', severity: 'error', schema: {} }] },
    'validations.0.schema',
    'Standard Schema',
  ],
  [
    'a user-defined event that is no function',
    { ...sound, userDefinedEvents: { go: 1 } },
    'userDefinedEvents.go',
    'function',
  ],
]

test.each(mistaken)('%s is named with its place and advice', (_name, definition, place, advice) => {
  const mistakes = mistakesIn(definition)
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]?.slice(0, place.length + 2)).toBe(`${place}: `)
  expect(mistakes[0]).toContain(advice)
})

// The stack of a check would overflow.
test('what contains itself, or is nested without end, is named with its place', () => {
  const where: Record<string, unknown> = { id: 1 }
  where['and'] = [where]
  const advice = 'contains itself, or has more than 64 levels'
  expect(mistakesIn({ ...sound, rows: { where } })).toEqual([`rows.where: ${advice}`])
  const list: unknown[] = []
  list.push(list)
  const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown
  for (const example of [list, deep]) {
    expect(mistakesIn(field({ type: 'json', example }))).toEqual([`fields.it: ${advice}`])
  }
})

test('a validator that contains itself is not a mistake', () => {
  const schema: Record<string, unknown> = {
    '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) },
  }
  schema['again'] = schema
  expect(mistakesIn({ ...sound, validations: [{ name: 'a', severity: 'error', schema }] })).toEqual(
    [],
  )
})

test('a sound definition has no mistake', () => {
  expect(mistakesIn(sound)).toEqual([])
})

test('every mistake is listed at once', () => {
  const definition = {
    ...field({ type: 'text', minLength: 2, maxLength: 1, pattern: '(' }),
    key: 'nope',
    pageSize: { maximum: 500 },
  }
  expect(mistakesIn(definition).map((line) => line.split(':')[0])).toEqual([
    'key',
    'fields.it.minLength',
    'fields.it.pattern',
    'pageSize.maximum',
  ])
})
