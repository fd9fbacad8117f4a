import fc from 'fast-check'
import { createService, decimal, defineCollection, integer, openAccess, principal } from 'rowgate'
import { mysqlStorage } from 'rowgate/mysql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()
const shapes = [
  { name: 'a', precision: 8, scale: 3 },
  { name: 'b', precision: 15, scale: 4 },
  { name: 'c', precision: 15, scale: 15 },
] as const

const numbers = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    a: decimal({ precision: 8, scale: 3 }),
    b: decimal({ precision: 15, scale: 4 }),
    c: decimal({ precision: 15, scale: 15 }),
  },
})

function decimals({ precision, scale }: (typeof shapes)[number]): fc.Arbitrary<string> {
  return fc.integer({ min: -(10 ** precision - 1), max: 10 ** precision - 1 }).map((digits) => {
    const text = String(Math.abs(digits)).padStart(scale + 1, '0')
    const point = text.length - scale
    return `${digits < 0 ? '-' : ''}${text.slice(0, point)}.${text.slice(point)}`
  })
}

describe.skipIf(missing !== undefined)('columns of doubles with declared digits', () => {
  let database: TestDatabase
  let service: ReturnType<typeof openService>
  const openService = () =>
    createService({
      applications: { app: { collections: { numbers } } },
      storage: mysqlStorage(database.pool),
      security: openAccess(),
    })
  beforeAll(async () => {
    database = await testDatabase()
    await database.run(
      'create table numbers (id bigint primary key, a double(8,3), b double(15,4), c double(15,15))',
    )
    service = openService()
    await service.ready()
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
  })

  test('keep every decimal, find it, and order it', async () => {
    const all = service.as(principal('any')).collection('app', 'numbers')
    const values = fc.sample(
      fc.record({ a: decimals(shapes[0]), b: decimals(shapes[1]), c: decimals(shapes[2]) }),
      300,
    )
    await all.insertMany(values.map((each, id) => ({ id, ...each })))
    const { items } = await all.filter({}, { limit: 300, sort: ['id'] })
    expect(items).toEqual(values.map((each, id) => ({ id, ...each })))
    for (const [id, each] of values.slice(0, 60).entries())
      for (const { name } of shapes) {
        const found = await all.filter({ [name]: each[name] }, { limit: 300 })
        expect(found.items.map((item) => item.id)).toContain(id)
      }
    const sorted = await all.filter({}, { limit: 300, sort: ['b'] })
    const order = sorted.items.map(({ b }) => Number(b))
    expect(order).toEqual(order.toSorted((one, other) => one - other))
    expect(await service.inspect()).toEqual([])
  })
})
