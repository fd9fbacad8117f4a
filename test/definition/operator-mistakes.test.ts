import { expect, test } from 'vitest'
import { publishCollection } from '../../src/entries/storage.ts'
import { boolean, defineCollection, integer, text } from '../../src/entries/index.ts'
import { mistakesIn } from './mistakes.ts'

const fields = {
  id: { type: 'integer' },
  name: { type: 'text' },
  isNew: { type: 'boolean' },
  extra: { type: 'json' },
  long: { type: 'text', itemOnly: true },
}

function mistakesOf(operators: unknown, others: object = {}): readonly string[] {
  return mistakesIn({ key: 'id', fields, operators, ...others })
}

const none: readonly string[] = []

test.each<[unknown, readonly string[]]>([
  [true, none],
  ['indexed', none],
  [{}, none],
  [{ name: ['contains', 'gte'], isNew: ['ne', 'in'], id: ['lt'] }, none],
  [{ nam: ['in'] }, ['operators.nam: nam is not a field; did you mean name?']],
  [
    { isNew: ['gte'] },
    [
      'operators.isNew: gte does not apply to a field of type boolean; its operators are ne, in, notIn, isNull',
    ],
  ],
  [
    { id: ['contains'] },
    [
      'operators.id: contains does not apply to a field of type integer; its operators are ne, in, notIn, isNull, lt, lte, gt, gte',
    ],
  ],
  [
    { extra: ['isNull'] },
    ['operators.extra: extra cannot be filtered, because it is a json field: leave it out'],
  ],
  [
    { long: ['contains'] },
    ['operators.long: long cannot be filtered, because pages leave it out: leave it out'],
  ],
  [{ name: ['in', 'in'] }, ['operators.name: name each operator once']],
  [
    { name: ['eq'] },
    [
      'operators.name: eq does not apply to a field of type text; its operators are ne, in, notIn, isNull, lt, lte, gt, gte, contains, startsWith',
    ],
  ],
])('%j has its mistakes', (operators, mistakes) => {
  expect(mistakesOf(operators)).toEqual(mistakes)
})

test.each<[unknown, string]>([
  [{ name: [] }, 'operators.name'],
  [{ name: ['in', 'nin'] }, 'operators.name.1: must be one of eq, ne, in, notIn, isNull, lt'],
  [{ name: 'in' }, 'operators: must be true, or must be indexed, or must be a list'],
  [{ constructor: ['in'] }, 'operators.constructor: constructor is not a field'],
  [JSON.parse('{"__proto__": ["in"]}'), 'operators.__proto__'],
  [false, 'operators'],
  ['all', 'operators'],
  [null, 'operators'],
  [['name'], 'operators'],
])('%j is malformed', (operators, place) => {
  const mistakes = mistakesOf(operators)
  expect(mistakes[0]).toContain(place)
})

test('a computed field has no operators', () => {
  const computed = {
    upper: { field: { type: 'text' }, needs: ['name'], compute: () => '' },
  }
  expect(mistakesOf({ upper: ['in'] }, { computed })).toEqual([
    'operators.upper: upper is a computed field, which conditions cannot name: leave it out',
  ])
})

test('indexed needs an index, and a served collection has none', () => {
  expect(mistakesOf('indexed', { key: undefined })).toEqual([
    'operators: there is no key, unique group or index: declare one, or list operators by field',
  ])
  expect(mistakesOf('indexed', { serve: { filter: () => [] } })).toEqual([
    'operators: a served collection has no indexes: list the operators of each field',
  ])
})

test('indexed publishes comparisons and lists of fields that lead an index', () => {
  const collection = defineCollection({
    key: ['a', 'b'],
    fields: {
      a: integer(),
      b: integer(),
      c: text({ unique: true }),
      d: boolean(),
      e: text(),
      f: text(),
      g: text(),
    },
    index: [['-e', 'f'], ['d']],
    unique: [['g', 'f']],
    operators: 'indexed',
  })
  const { operators } = publishCollection('app', 'things', collection)
  const of = (name: string) =>
    ['in', 'lt', 'lte', 'gt', 'gte'].map((operator) => `${name}.${operator}`)
  expect([...operators.keys()]).toEqual([...of('a'), ...of('c'), 'd.in', ...of('e'), ...of('g')])
})
