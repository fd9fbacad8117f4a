import { expect, test } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  readApplications,
  text,
} from '../../src/entries/index.ts'
import { definitionJsonSchema } from '../../src/definition/check.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { mistakesIn, sound } from './mistakes.ts'

test.each([
  ['brand', 'Svc'],
  ['brand', ''],
  ['serviceVersion', true],
  ['serviceVersion', '4'],
  ['limitExcess', 'cut'],
  ['bodyStatus', 400],
  ['maxPageSize', 0],
  ['bodyLimit', 1.5],
  ['handlerTimeout', 0],
  ['handlerTimeout', 2 ** 31],
  ['report', 'x'],
  ['now', 1],
  ['storage', {}],
  ['storage', undefined],
  ['security', undefined],
  ['security', []],
  ['security', [{}]],
  ['applications', null],
  ['nope', 1],
])('the option %s cannot be %j', (name, value) => {
  const [mistake, ...others] = mistakesIn(sound, { [name]: value })
  expect(mistake).toMatch(new RegExp(`^options\\.${name}: .`))
  expect(others).toEqual([])
})

test.each(['', 'a/b', 'a b', '-a', '..', 'ä', 'x'.repeat(65), 'a%2F'])(
  'the endpoint name "%s" is rejected',
  (name) => {
    expect(() => readApplications({ [name]: { collections: {} } })).toThrow(TypeError)
    expect(() => readApplications({ app: { collections: { [name]: sound } } })).toThrow(TypeError)
  },
)

test('applications may be written as JSON, without code', () => {
  const json = JSON.parse(JSON.stringify({ app: { collections: { things: sound } } })) as unknown
  expect(readApplications(json)).toEqual(json)
  const withCode = { app: { collections: { things: { ...sound, events: {} } } } }
  expect(() => readApplications(withCode)).toThrow('things.events')
  for (const wrong of [null, 1, 'x', [], { app: 1 }, { app: { collections: 1 } }]) {
    expect(() => readApplications(wrong)).toThrow(TypeError)
  }
  expect(JSON.parse(JSON.stringify(definitionJsonSchema()))).toMatchObject({ type: 'object' })
})

test('defineCollection joins data and behaviour, and the result cannot be changed', () => {
  const defined = defineCollection(
    { key: 'id', fields: { id: integer(), name: text() } },
    { validations: [error('a', { check: () => undefined })] },
  )
  expect(defined).toMatchObject({ key: 'id', validations: [{ name: 'a' }] })
  expect(Object.isFrozen(defined)).toBe(true)
})

test('a published collection has every default of the contract', () => {
  const published = publishCollection('app', 'things', sound as never)
  expect(published).toMatchObject({
    table: 'things',
    pageSize: { default: 10, maximum: 100 },
    allNames: ['id', 'name'],
    defaultNames: ['id', 'name'],
    searchNames: ['id', 'name'],
  })
  expect(Array.from(published.publishes)).toEqual(['Filter', 'Insert', 'Update', 'Delete'])
  expect(published.key.map(({ name, required }) => [name, required])).toEqual([['id', true]])
})

test('a key field is always required', () => {
  const fields = { id: integer({ required: false }) }
  expect(publishCollection('app', 'things', { key: 'id', fields }).key[0]?.required).toBe(true)
})
