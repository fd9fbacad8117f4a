import { expect, test } from 'vitest'
import { createService, memoryStorage, openAccess } from '../../src/entries/index.ts'
import type { ApplicationDefinitions, ServiceOptions } from '../../src/entries/index.ts'
import { mistakesIn, sound } from './mistakes.ts'

const integer = { type: 'integer' }
const text = { type: 'text' }

/** The mistakes of the collections of one application, with places relative to the collections. */
function mistakesOf(collections: object): readonly string[] {
  const applications = { app: { collections } }
  try {
    createService({
      applications,
      storage: memoryStorage(),
      security: openAccess(),
    } as unknown as ServiceOptions<ApplicationDefinitions>)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    const [, ...lines] = (error as TypeError).message.split('\n')
    return lines.map((line) => line.replace('  - applications.app.collections.', ''))
  }
}

const places = { key: 'code', fields: { code: text, name: text } }
const prices = {
  key: ['code', 'amount'],
  fields: { code: text, amount: { type: 'decimal', precision: 9, scale: 2 } },
}
const journal = { fields: { entry: text } }
const report = { key: 'code', fields: { code: text }, serve: { filter: () => [] } }
const visits = (placeCode: object, others: object = {}) => ({
  key: 'id',
  fields: { id: integer, placeCode },
  ...others,
})

test('a definition with references, unique groups and indexes has no mistakes', () => {
  const offers = {
    key: 'id',
    fields: {
      id: integer,
      code: { type: 'text', references: 'places', onDelete: 'cascade' },
      amount: { type: 'decimal', precision: 7, scale: 2, unique: true },
      parentId: { type: 'integer', references: 'offers', onDelete: 'setNull' },
    },
    unique: [['code', 'parentId']],
    index: [['code', '-amount']],
    references: [{ fields: ['code', 'amount'], collection: 'prices', onDelete: 'setNull' }],
  }
  expect(mistakesOf({ places, prices, offers })).toEqual([])
})

test.each([
  [
    'a unique json field',
    { fields: { ...sound.fields, it: { type: 'json', unique: true } } },
    'fields.it.unique: a json field cannot be unique',
  ],
  [
    'onDelete without references',
    { fields: { ...sound.fields, it: { type: 'text', onDelete: 'cascade' } } },
    'fields.it.onDelete: needs references: add it, or leave onDelete out',
  ],
  [
    'a unique key',
    { fields: { id: { type: 'integer', unique: true } } },
    'fields.id.unique: leave it out: the key is unique already',
  ],
  [
    'an unknown field in a group',
    { unique: [['nam']] },
    'unique.0: nam is not a field; did you mean name?',
  ],
  ['a repeated field', { unique: [['name', 'name']] }, 'unique.0: name each field once'],
  ['an empty group', { unique: [[]] }, 'unique.0: must name at least one field'],
  ['the key as a group', { unique: [['id']] }, 'unique.0: leave it out: the key is unique already'],
  [
    'a repeated group',
    {
      unique: [
        ['id', 'name'],
        ['name', 'id'],
      ],
    },
    'unique.1: leave it out: unique.0 has the same fields',
  ],
  [
    'a unique group with an order',
    { unique: [['-name']] },
    'unique.0: -name is not a field; did you mean name?',
  ],
  [
    'an unknown field in an index',
    { index: [['-nam']] },
    'index.0: nam is not a field; did you mean name?',
  ],
  ['a repeated field in an index', { index: [['name', '-name']] }, 'index.0: name each field once'],
  [
    'an index on json',
    { fields: { ...sound.fields, it: { type: 'json' } }, index: [['it']] },
    'index.0: it cannot be used here: it is a json field',
  ],
] as const)('rejects %s', (_, change, mistake) => {
  expect(mistakesIn({ ...sound, ...change })).toEqual([mistake])
})

test.each([
  ['unique', { unique: [['name']] }, 'unique'],
  [
    'a unique field',
    { fields: { id: integer, name: { type: 'text', unique: true } } },
    'fields.name.unique',
  ],
  ['an index', { index: [['name']] }, 'index'],
])('rejects %s of a served collection', (_, change, place) => {
  const served = { ...sound, ...change, serve: { filter: () => [] } }
  expect(mistakesIn(served)).toEqual([`${place}: a served collection has no table: leave it out`])
})

test.each([
  [
    'an unknown collection',
    visits({ type: 'text', references: 'place' }),
    'visits.fields.placeCode.references: place is not a collection of the application; did you mean places?',
  ],
  [
    'a collection without key',
    visits({ type: 'text', references: 'journal' }),
    'visits.fields.placeCode.references: journal has no key: refer to a collection with a key',
  ],
  [
    'a served collection',
    visits({ type: 'text', references: 'report' }),
    'visits.fields.placeCode.references: report is served by functions: refer to a stored collection',
  ],
  [
    'a composite key with one field',
    visits({ type: 'text', references: 'prices' }),
    'visits.fields.placeCode.references: prices has the key code, amount: refer to it with 2 fields, in the option references of the collection',
  ],
  [
    'a key of one field with several',
    visits(text, { references: [{ fields: ['id', 'placeCode'], collection: 'places' }] }),
    'visits.references.0.collection: places has the key code: refer to it with one field',
  ],
  [
    'an unknown field',
    visits(text, { references: [{ fields: ['placeCod'], collection: 'places' }] }),
    'visits.references.0.fields: placeCod is not a field; did you mean placeCode?',
  ],
  [
    'a field of another type',
    visits({ type: 'uuid', references: 'places' }),
    'visits.fields.placeCode.references: code of places is a field of type text: declare placeCode in the same way',
  ],
  [
    'a field with another scale',
    {
      key: 'id',
      fields: { id: integer, code: text, amount: { type: 'decimal', precision: 9, scale: 3 } },
      references: [{ fields: ['code', 'amount'], collection: 'prices' }],
    },
    'visits.references.0.fields.amount: amount of prices has the scale 2: declare amount in the same way',
  ],
  [
    'setNull on a required field',
    visits({ type: 'text', required: true, references: 'places', onDelete: 'setNull' }),
    'visits.fields.placeCode.onDelete: placeCode cannot be null: use restrict or cascade',
  ],
  [
    'setNull on a key field',
    visits(text, {
      key: ['id', 'placeCode'],
      references: [{ fields: ['placeCode'], collection: 'places', onDelete: 'setNull' }],
    }),
    'visits.references.0.onDelete: placeCode cannot be null: use restrict or cascade',
  ],
  [
    'a cascade to a collection without key',
    { fields: { placeCode: { type: 'text', references: 'places', onDelete: 'cascade' } } },
    'visits.fields.placeCode.onDelete: cascade needs a key of this collection: declare one, or use restrict',
  ],
  [
    'the same reference twice',
    visits(
      { type: 'text', references: 'places' },
      { references: [{ fields: ['placeCode'], collection: 'places' }] },
    ),
    'visits.references.0.collection: leave it out: the same reference is declared above',
  ],
  [
    'a reference of a served collection',
    visits({ type: 'text', references: 'places' }, { serve: { filter: () => [] } }),
    'visits.fields.placeCode.references: a served collection cannot have references: leave it out',
  ],
  [
    'an unknown effect of a delete',
    visits({ type: 'text', references: 'places', onDelete: 'delete' }),
    'visits.fields.placeCode.onDelete: must be one of restrict, cascade, setNull',
  ],
])('rejects a reference: %s', (_, definition, mistake) => {
  expect(mistakesOf({ places, prices, journal, report, visits: definition })).toEqual([mistake])
})

test('reports a circle of cascades once', () => {
  const refersTo = (references: string) => ({
    key: 'id',
    fields: { id: integer, other: { type: 'integer', references, onDelete: 'cascade' } },
  })
  expect(mistakesOf({ a: refersTo('b'), b: refersTo('c'), c: refersTo('a') })).toEqual([
    'a.fields.other.onDelete: cascades cannot form a circle (a -> b -> c -> a): use restrict or setNull for one of them',
  ])
})

test('a mistake in a key causes no mistake in references to it', () => {
  const broken = { key: 'code', fields: { code: { type: 'intger' } } }
  expect(mistakesOf({ broken, visits: visits({ type: 'integer', references: 'broken' }) })).toEqual(
    [expect.stringContaining('broken.fields.code.type')],
  )
})
