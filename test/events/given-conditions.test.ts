import { expect, test } from 'vitest'
import {
  boolean,
  decimal,
  defineCollection,
  integer,
  principal,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { conditionsOf } from '../../src/events/reads/conditions.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { describeOnStorages } from '../kit/stage.ts'

const fields = {
  id: integer(),
  title: text(),
  price: decimal({ precision: 6, scale: 2 }),
  open: boolean(),
} as const
const things = defineCollection({ key: 'id', fields })
const published = publishCollection('app', 'things', things)
const named = publishCollection('app', 'named', {
  key: 'id',
  fields: { id: integer(), or: text(), and: text(), not: text(), through: text() },
})
const maria = principal('maria')

const items = [
  { id: 1, title: 'rum', price: '5.00', open: true },
  { id: 2, title: 'Rum cake', price: '-12.00', open: false },
  { id: 3, title: 'tea', price: '100.00', open: null },
  { id: 4, title: null, price: null, open: true },
  { id: 5, title: '', price: '9.50', open: false },
]

const found: readonly (readonly [object, readonly number[]])[] = [
  [{ id: { eq: 3 } }, [3]],
  [{ title: { eq: null } }, [4]],
  [{ title: { ne: 'rum' } }, [2, 3, 4, 5]],
  [{ title: { ne: null } }, [1, 2, 3, 5]],
  [{ price: { lt: '9.5' } }, [1, 2]],
  [{ price: { lte: '9.5' } }, [1, 2, 5]],
  [{ price: { gte: '5', lt: '100.00' } }, [1, 5]],
  [{ price: { gt: '100' } }, []],
  [{ id: { in: [1, 4, 9] } }, [1, 4]],
  [{ title: { in: ['rum', null] } }, [1, 4]],
  [{ title: { notIn: ['rum', null] } }, [2, 3, 5]],
  [{ title: { notIn: ['rum'] } }, [2, 3, 4, 5]],
  [{ id: { in: [] } }, []],
  [{ id: { notIn: [] } }, [1, 2, 3, 4, 5]],
  [{ title: { contains: 'um' } }, [1, 2]],
  [{ title: { startsWith: 'R' } }, [2]],
  [{ price: { isNull: true } }, [4]],
  [{ price: { isNull: false } }, [1, 2, 3, 5]],
  [{ open: { ne: true } }, [2, 3, 5]],
  [{ or: [{ id: 1 }, { title: 'tea', open: null }] }, [1, 3]],
  [{ or: [] }, []],
  [{ and: [] }, [1, 2, 3, 4, 5]],
  [{ and: [{ id: { gt: 1 } }, { id: { lt: 4 } }] }, [2, 3]],
  [{ not: { open: true } }, [2, 3, 5]],
  [{ not: { open: true, id: 1 } }, [2, 3, 4, 5]],
  [{ not: [{ open: true }, { id: 3 }] }, [2, 5]],
  [{ not: [] }, [1, 2, 3, 4, 5]],
  [{ open: true, not: { or: [{ id: 1 }, { price: { gt: '1' } }] } }, [4]],
  [{ or: [{}] }, [1, 2, 3, 4, 5]],
]

describeOnStorages('conditions with operators', (on) => {
  on('select items in filter, find, count and exists', async (open) => {
    const { service } = open({ things })
    const access = service.as(maria).collection('app', 'things')
    for (const item of items) await access.insert(item)
    for (const [conditions, ids] of found) {
      const page = await access.filter(conditions, { count: true })
      expect([conditions, page.items.map(({ id }) => id)]).toEqual([conditions, ids])
      expect(page.count).toBe(ids.length)
      expect(await access.count(conditions)).toBe(ids.length)
      expect(await access.exists(conditions)).toBe(ids.length > 0)
    }
    expect(await access.count()).toBe(5)
    expect(await access.exists()).toBe(true)
  })

  on('select the items of updateMany and deleteMany', async (open) => {
    const { service } = open({ things })
    const access = service.as(maria).collection('app', 'things')
    await access.insertMany(items)
    await access.updateMany({ price: { gt: '9' } }, { title: 'dear' })
    expect(await access.count({ title: 'dear' })).toBe(2)
    await access.deleteMany({ or: [{ title: { contains: 'um' } }, { price: null }] })
    const left = await access.filter()
    expect(left.items.map(({ id }) => id)).toEqual([3, 5])
  })

  on('are accepted by where and find of handlers', async (open) => {
    const seen: unknown[] = []
    const narrowed = defineCollection(
      { key: 'id', fields },
      {
        events: {
          Filter: {
            before: async ({ where, find }) => {
              where({ price: { gte: '5.00' }, or: [{ title: 'rum' }, { title: '' }] })
              const dear = await find(things, { price: { gt: '50' } })
              seen.push(dear.map(({ id }) => id))
              seen.push(
                await find('things', { title: { startsWith: 't' } }).then((all) => all.length),
              )
            },
          },
        },
      },
    ) as CollectionDefinition
    const { service, ask } = open({ things, narrowed: { ...narrowed, table: 'things' } })
    await service.as(maria).collection('app', 'things').insertMany(items)
    const { body } = await ask('GET', '/narrowed?$count=true')
    expect(body).toMatchObject({ count: 2, items: [{ id: 1 }, { id: 5 }] })
    expect(seen).toEqual([[3], 1])
  })
})

const none =
  'The operators are eq, ne, lt, lte, gt, gte, in, notIn, contains, startsWith and isNull.'

test.each<readonly [unknown, string]>([
  [{ price: { gtt: '1' } }, `The condition on price has an unknown operator gtt. ${none}`],
  [{ price: {} }, 'The condition on price needs an operator, such as { gte: ... }.'],
  [{ price: { lt: undefined } }, /^The value of price must be a decimal/ as never],
  [{ price: { lt: null } }, /^The value of price must be a decimal/ as never],
  [{ price: { lt: 1 } }, /^The value of price must be a decimal/ as never],
  [{ price: { in: '1.00' } }, 'in of price must be a list of at most 10,000 values.'],
  [{ price: { in: [undefined] } }, /^The value of price must be a decimal/ as never],
  [{ id: { notIn: Array.from({ length: 10_001 }, () => 1) } }, /^notIn of id must be/ as never],
  [
    { id: { contains: '1' } },
    'contains applies to fields of type text, and id is of type integer.',
  ],
  [{ title: { contains: 1 } }, /^The value of title must be a string/ as never],
  [{ title: { startsWith: '\ud800' } }, /^The value of title must be a string/ as never],
  [{ title: { isNull: 'yes' } }, 'isNull of title must be true or false.'],
  [{ title: ['a'] }, /^The value of title must be a string/ as never],
  [
    { title: new Date(0) },
    'The condition on title must be a plain object: filter received an instance of Date.',
  ],
  [{ or: { id: 1 } }, 'or must be a list of conditions: filter received an object.'],
  [{ and: undefined }, 'and must be a list of conditions: filter received undefined.'],
  [{ not: 1 }, 'not must be conditions, or a list of conditions: filter received a number.'],
  [{ or: [1] }, 'A condition in or must be an object: filter received a number.'],
  [{ or: [{ idd: 1 }] }, /^The collection things has no field idd; did you mean id\?/ as never],
  [{ through: { field: 'id', collection: 'things' } }, /has no field through/ as never],
  [nested(10), 'Conditions may have at most 10 levels.'],
  [{ or: Array.from({ length: 500 }, () => ({ id: 1 })) }, /at most 500 conditions/ as never],
])('the conditions %j are a TypeError', (given, message) => {
  expect(() => conditionsOf(published, given, 'filter')).toThrow(TypeError)
  expect(() => conditionsOf(published, given, 'filter')).toThrow(message)
})

function nested(levels: number): object {
  return levels === 0 ? { id: 1 } : { not: nested(levels - 1) }
}

test('fields may have the names of groups: a list is the group', () => {
  const given = { or: 'a', and: { ne: 'b' }, not: { eq: 'c' } }
  expect(conditionsOf(named, given, 'filter')).toEqual([
    { field: 'or', is: 'equal', value: 'a' },
    { is: 'not', condition: { field: 'and', is: 'equal', value: 'b' } },
    { field: 'not', is: 'equal', value: 'c' },
  ])
  expect(conditionsOf(named, { or: [{ id: 1 }, { or: 'a' }], not: [{ id: 2 }] }, 'filter')).toEqual(
    [
      {
        is: 'or',
        conditions: [
          { field: 'id', is: 'equal', value: 1 },
          { field: 'or', is: 'equal', value: 'a' },
        ],
      },
      {
        is: 'not',
        condition: { is: 'or', conditions: [{ field: 'id', is: 'equal', value: 2 }] },
      },
    ],
  )
})
