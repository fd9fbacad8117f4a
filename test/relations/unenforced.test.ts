import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { missingServer as missingMariaDb, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'

const applications = {
  app: {
    collections: {
      customers: defineCollection({ key: 'id', fields: { id: integer() } }),
      invoices: defineCollection({
        key: 'id',
        fields: { id: integer(), customerId: integer({ references: 'customers' }) },
      }),
      employees: defineCollection({
        key: 'id',
        fields: { id: integer(), managerId: integer({ references: 'employees' }) },
      }),
    },
  },
}

const statements = [
  'create table customers (id bigint primary key)',
  'create table invoices (id bigint primary key, customerid bigint)',
  'create table employees (id bigint primary key, managerid bigint)',
]

interface PlainTables {
  readonly storage: StorageAdapter
  run(statement: string): Promise<unknown>
  drop(): Promise<void>
}

const servers = [
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    open: async (): Promise<PlainTables> => {
      const schema = await testSchema()
      return { ...schema, storage: postgresStorage(schema.pool) }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    open: async (): Promise<PlainTables> => {
      const database = await testDatabase()
      return { ...database, storage: mysqlStorage(database.pool) }
    },
  },
]

describe.each(servers.filter(({ missing }) => missing === undefined))(
  'tables of $name without foreign keys',
  ({ open }) => {
    let tables: PlainTables
    let service: ReturnType<typeof serviceOn>
    const serviceOn = (storage: StorageAdapter) =>
      createService({ applications, storage, security: openAccess() })
    beforeAll(async () => {
      tables = await open()
      for (const statement of statements) await tables.run(statement)
      service = serviceOn(tables.storage)
      await service.ready()
    })
    afterAll(async () => {
      await service.close()
      await tables.drop()
    })

    test('concurrent transactions never leave a reference to a deleted item', async () => {
      const app = service.as(system)
      const customers = app.collection('app', 'customers')
      const invoices = app.collection('app', 'invoices')
      for (let id = 1; id <= 40; id++) {
        await customers.insert({ id })
        const insert = invoices.insert({ id, customerId: id })
        const remove = customers.delete(id)
        await Promise.allSettled(id % 2 === 0 ? [insert, remove] : [remove, insert])
      }
      const { items } = await invoices.filter({}, { limit: 100 })
      for (const { customerId } of items) {
        expect(await customers.get(customerId as number)).toBeDefined()
      }
    })

    test('nor one to a deleted item of the same collection', async () => {
      const employees = service.as(system).collection('app', 'employees')
      for (let id = 1; id <= 40; id++) {
        await employees.insert({ id })
        const insert = employees.insert({ id: 100 + id, managerId: id })
        const remove = employees.delete(id)
        await Promise.allSettled(id % 2 === 0 ? [insert, remove] : [remove, insert])
      }
      const { items } = await employees.filter({}, { limit: 100 })
      for (const { managerId } of items) {
        if (managerId === null) continue
        expect(await employees.get(managerId)).toBeDefined()
      }
    })
  },
)
