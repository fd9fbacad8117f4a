import { expect, test } from 'vitest'
import { changesBetween } from '../../../src/deployment/install/changes.ts'
import {
  defineCollection,
  integer,
  text,
  type ApplicationDefinitions,
  type CollectionDefinition,
} from '../../../src/entries/index.ts'
import { applications, reversed } from '../package/release.ts'

const orders = (changes: Partial<CollectionDefinition> = {}): ApplicationDefinitions => ({
  sales: {
    collections: {
      orders: {
        ...defineCollection({ key: 'id', fields: { id: integer(), name: text() } }),
        ...changes,
      },
    },
  },
})

const place = 'sales/orders'
const changed = (at: string, ...options: readonly string[]) => ({
  kind: 'changed',
  what: at.includes('.') ? 'field' : 'collection',
  place: at,
  options,
})

test.each<[string, ApplicationDefinitions, readonly object[]]>([
  ['nothing', orders(), []],
  [
    'a new field',
    orders({ fields: { id: integer(), name: text(), city: text() } }),
    [{ kind: 'added', what: 'field', place: `${place}.city`, options: [] }],
  ],
  [
    'a field that is gone',
    orders({ fields: { id: integer() } }),
    [{ kind: 'removed', what: 'field', place: `${place}.name`, options: [] }],
  ],
  [
    'a field of another type',
    orders({ fields: { id: integer(), name: integer({ minimum: 1 }) } }),
    [changed(`${place}.name`, 'minimum', 'type')],
  ],
  [
    'the same fields in another order',
    orders({ fields: { name: text(), id: integer() } }),
    [changed(place, 'fields')],
  ],
  [
    'options of the collection',
    orders({ roles: ['Sales'], table: 't' }),
    [changed(place, 'roles', 'table')],
  ],
  [
    'code, of which only the places are known',
    orders({ events: { Insert: { before: () => undefined } } }),
    [changed(place, 'omittedCode')],
  ],
  [
    'options of the application',
    {
      sales: {
        ...orders()['sales'],
        collections: orders()['sales']?.collections ?? {},
        roles: ['A'],
      },
    },
    [{ kind: 'changed', what: 'application', place: 'sales', options: ['roles'] }],
  ],
  [
    'everything',
    { other: { collections: {} } },
    [
      { kind: 'added', what: 'application', place: 'other', options: [] },
      { kind: 'removed', what: 'application', place: 'sales', options: [] },
      { kind: 'removed', what: 'collection', place, options: [] },
    ],
  ],
])('%s', (_, after, changes) => {
  expect(changesBetween(orders(), after)).toEqual(changes)
})

test('what is new one way is gone the other way', () => {
  const mirror = changesBetween(applications, orders()).map(({ kind, place: at }) => [kind, at])
  const back = changesBetween(orders(), applications).map(({ kind, place: at }) => [kind, at])
  const other = { added: 'removed', removed: 'added', changed: 'changed' } as const
  expect(mirror.map(([kind, at]) => [other[kind as keyof typeof other], at])).toEqual(back)
  expect(mirror.length).toBeGreaterThan(3)
})

test('the order in which applications and options are written means nothing', () => {
  expect(changesBetween(applications, reversed(applications, ['fields', 'key']))).toEqual([])
})
