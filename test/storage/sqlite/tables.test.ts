import { expect, test } from 'vitest'
import { customers, orderLines, samples } from '../../../src/conformance/collections.ts'
import type { PublishedCollection } from '../../../src/definition/published.ts'
import { hasIndex } from '../../../src/schema/compare.ts'
import { connectionOf } from '../../../src/storage/sqlite/connection/open.ts'
import { createTables } from '../../../src/schema/sqlite/statements.ts'
import { readTables } from '../../../src/schema/sqlite/read-tables.ts'
import { uniqueIndex } from '../../../src/schema/wanted-indexes.ts'
import type { SqliteDriver } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

test('the tables of any number of collections are read with three statements', () => {
  const connection = connectionOf(openHandle(drivers[0] as SqliteDriver, ':memory:'))
  const collections: readonly PublishedCollection[] = [customers, orderLines, samples]
  for (const statement of createTables(collections)) connection.execute(statement)
  let statements = 0
  const counted = {
    ...connection,
    rows(sql: string) {
      statements++
      return connection.rows(sql)
    },
  }
  const tables = readTables(counted, collections)
  expect(statements).toBe(2)
  expect(tables.find('ORDERLINES')).toMatchObject({ kind: 'table', strict: true })
  const isUnique = (collection: PublishedCollection, columns: readonly string[]): boolean => {
    const fields = collection.fields.filter(({ column }) => columns.includes(column.toLowerCase()))
    return hasIndex(tables.find(collection.table), uniqueIndex(collection, fields))
  }
  expect(isUnique(orderLines, ['orderid', 'product'])).toBe(true)
  expect(isUnique(orderLines, ['orderid'])).toBe(false)
  expect(isUnique(customers, ['companyname'])).toBe(false)
  expect(statements).toBe(3)
  expect(tables.find('customers')?.find('companyname')?.declared).toBe('TEXT')
  expect(tables.find('others')).toBeUndefined()
  connection.close()
})

test('a view that nothing publishes may be broken', () => {
  const connection = connectionOf(openHandle(drivers[0] as SqliteDriver, ':memory:'))
  connection.execute('CREATE VIEW broken AS SELECT missing FROM nowhere')
  for (const statement of createTables([customers])) connection.execute(statement)
  expect(readTables(connection, [customers]).find('customers')?.kind).toBe('table')
  connection.close()
})
