import { expect, test } from 'vitest'
import type { StandardSchema } from '../../src/definition/validation.ts'
import {
  defineCollection,
  error,
  information,
  integer,
  json,
  principal,
  text,
  warning,
  type CollectionBehaviour,
  type Json,
} from '../../src/entries/index.ts'
import { planDelete, planInsert, planUpdate } from '../../src/request/plan.ts'
import { viewOf } from '../../src/request/view.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { stubbedStorage } from './stubbed.ts'

const data = {
  key: 'id',
  fields: { id: integer(), title: text(), size: integer() },
} as const
const maria = principal('maria')

type Rules = NonNullable<CollectionBehaviour<typeof data>['validations']>

function publish(...validations: Rules) {
  return publishCollection('app', 'notes', defineCollection(data, { validations }))
}

/** Inserts an item as a user, and returns the outcome and the reports. */
async function insert(rules: Rules, values: object = { title: 'a', size: 2 }) {
  const collection = publish(...rules)
  const { run, reports } = stubbedStorage(collection)
  const event = planInsert(viewOf(collection, maria), { id: 1, ...values })
  return { outcome: await run(event), reports }
}

/** A validator that finds issues. */
function schema(validate: (value: unknown) => ReturnType<Validate>): StandardSchema {
  return { '~standard': { version: 1, validate } }
}

type Validate = StandardSchema['~standard']['validate']

test('a rule applies to Insert and Update, or to the events that it names', () => {
  const check = () => null
  const collection = publish(
    error('saved', { check }),
    error('deleted', { check, events: ['Delete'] }),
    error('all', { check, events: ['Insert', 'Update', 'Delete'] }),
  )
  const namesOn = (event: 'Insert' | 'Update' | 'Delete') =>
    collection.rulesOn[event].map(({ name }) => name)
  expect(namesOn('Insert')).toEqual(['saved', 'all'])
  expect(namesOn('Update')).toEqual(['saved', 'all'])
  expect(namesOn('Delete')).toEqual(['deleted', 'all'])
})

test.each([null, undefined])('a rule that returns %s finds nothing', async (found) => {
  const { outcome } = await insert([error('r', { check: () => found })])
  expect(outcome).toMatchObject({ type: 'item', validations: [] })
})

test('a rule that returns a message finds it, with its severity and field', async () => {
  const { outcome } = await insert([
    information('noted', { check: () => 'Noted.' }),
    error('wrong', { field: 'size', check: async () => Promise.resolve('Wrong.') }),
    warning('odd', { field: 'title', check: () => 'Odd.' }),
  ])
  expect(outcome.validations).toEqual([
    {
      message: 'Odd.',
      severity: 'warning',
      field: 'title',
      validationId: expect.any(String) as string,
    },
    { message: 'Wrong.', severity: 'error', field: 'size' },
    { message: 'Noted.', severity: 'information' },
  ])
})

test.each(['', 5, false, {}])('a rule that returns %j fails, and is reported', async (found) => {
  const rules = [error('odd', { check: () => found as never })]
  const collection = publish(...rules)
  const { run, reports } = stubbedStorage(collection)
  const event = planInsert(viewOf(collection, maria), { id: 1 })
  await expect(run(event)).rejects.toThrow('internal error')
  expect(reports).toEqual([
    {
      type: 'handler-failed',
      name: 'odd',
      place: { application: 'app', collection: 'notes', event: 'Insert' },
      error: new TypeError('The rule odd must return its message, or nothing.'),
    },
  ])
})

test('a rule receives the item, and the stored one, which it cannot change', async () => {
  const seen: unknown[] = []
  const rule: Rules[number] = error('r', {
    events: ['Insert', 'Update', 'Delete'],
    check: (item, { event, stored, principal: caller, now, signal, system: all, find }) => {
      seen.push([event, item.title, stored?.title ?? null, caller.user, now().getTime()])
      seen.push([signal.aborted, Object.keys(all), typeof find])
      expect(() => Object.assign(item, { title: 'x' })).toThrow(TypeError)
    },
  })
  const collection = publish(rule)
  const stored = { id: 1, title: 'a', size: null }
  const { run } = stubbedStorage(collection, {
    filter: () => ({ rows: [stored], count: null }),
    update: () => stored,
    delete: () => stored,
  })
  const view = viewOf(collection, maria)
  await run(planInsert(view, { id: 1, title: 'n' }))
  await run(planUpdate(view, [1], { title: 'u' }))
  await run(planDelete(view, [1]))
  const around = [false, ['find'], 'function']
  expect(seen).toEqual([
    ['Insert', 'n', null, 'maria', 0],
    around,
    ['Update', 'u', 'a', 'maria', 0],
    around,
    ['Delete', 'a', 'a', 'maria', 0],
    around,
  ])
})

test('a validator checks the value of its field, or the whole item', async () => {
  const values: unknown[] = []
  const seen = schema((value) => {
    values.push(value)
    return {}
  })
  await insert([error('field', { field: 'title', schema: seen }), error('item', { schema: seen })])
  expect(values).toEqual(['a', { id: 1, title: 'a', size: 2 }])
  values.length = 0
  await insert([error('field', { field: 'title', schema: seen })], { title: null })
  expect(values).toEqual([])
})

test('the issues of a validator are about its field, or about the first part of their path', async () => {
  const issues = [
    { message: 'none' },
    { message: 'empty', path: [] },
    { message: 'name', path: ['size', 'x'] },
    { message: 'segment', path: [{ key: 'title' }, 'x'] },
    { message: 'number', path: [1] },
    { message: 'keyed number', path: [{ key: 1 }] },
  ]
  const failing = schema(() => ({ issues }))
  const whole = await insert([error('item', { schema: failing })])
  expect(whole.outcome.validations).toEqual([
    { message: 'segment', severity: 'error', field: 'title' },
    { message: 'name', severity: 'error', field: 'size' },
    { message: 'none', severity: 'error' },
    { message: 'empty', severity: 'error' },
    { message: 'number', severity: 'error' },
    { message: 'keyed number', severity: 'error' },
  ])
  const field = await insert([
    warning('field', { field: 'id', schema: schema(() => Promise.resolve({ issues })) }),
  ])
  expect(field.outcome.validations.map(({ field: name }) => name)).toEqual(issues.map(() => 'id'))
})

test('rules run one after the other, also without findings before them', async () => {
  const steps: string[] = []
  const step = (name: string) =>
    error(name, {
      check: async () => {
        steps.push(`${name} begins`)
        await Promise.resolve()
        steps.push(`${name} ends`)
      },
    })
  const { outcome, reports } = await insert([step('one'), step('two')])
  expect(steps).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
  expect(outcome.type).toBe('item')
  expect(reports).toEqual([])
})

test('the id of a warning is the same for a json value with its members in another order', async () => {
  const pages = publishCollection(
    'app',
    'pages',
    defineCollection(
      { key: 'id', fields: { id: integer(), extra: json() } },
      { validations: [warning('odd', { check: () => 'Odd.' })] },
    ),
  )
  const idOf = async (extra: Json) => {
    const outcome = await stubbedStorage(pages).run(
      planInsert(viewOf(pages, maria), { id: 1, extra }),
    )
    return outcome.type === 'rejected' ? outcome.validations[0]?.validationId : undefined
  }
  const id = await idOf({ a: [{ c: 1, d: 2 }], b: null })
  expect(id).toBeDefined()
  expect(await idOf({ b: null, a: [{ d: 2, c: 1 }] })).toBe(id)
  expect(await idOf({ b: null, a: [{ d: 1, c: 2 }] })).not.toBe(id)
})
