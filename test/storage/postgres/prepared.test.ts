import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { samples } from '../../../src/conformance/collections.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { postgresStorage, type PostgresPool } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()
const query = queryOf(samples, { select: ['id', 'label'] })

describe.skipIf(missing !== undefined)('a statement', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
    const storage = postgresStorage(schema.open(1), { ensureSchema: true })
    await storage.open([samples])
    await storage.close()
    await schema.run(`insert into samples (id, label) values (1, 'first')`)
  })
  afterAll(() => schema.drop())

  async function opened(pool: PostgresPool): Promise<StorageAdapter> {
    const storage = postgresStorage(pool)
    await storage.open([samples])
    return storage
  }

  test('is prepared when it is run again', async () => {
    const pool = schema.open(1)
    const storage = await opened(pool)
    const count = async (): Promise<unknown> => {
      const { rows } = await pool.query<{ n: number }>(
        `select count(*)::int as n from pg_prepared_statements where statement like '%"label"%'`,
      )
      return rows[0]?.n
    }
    await storage.filter(samples, query)
    expect(await count()).toBe(0)
    for (let time = 0; time < 3; time++) await storage.filter(samples, query)
    expect(await count()).toBe(1)
    await storage.close()
  })

  test('is not prepared through a pooler, whose sessions change', async () => {
    const pool = schema.open(1)
    const storage = await opened({
      on: (event, listener) => pool.on(event, listener),
      removeListener: (event, listener) => pool.removeListener(event, listener),
      connect: (callback) => {
        pool.connect((error, client) => {
          if (client === undefined) {
            callback(error, undefined)
            return
          }
          callback(undefined, {
            // A pooler tells the client of a process of its own.
            processID: 1,
            query: (text, done) => {
              void client.query(text as never, done as never)
            },
            release: (destroy) => {
              client.release(destroy)
            },
            on: (event, listener) => client.on(event, listener),
            removeListener: (event, listener) => client.removeListener(event, listener),
          })
        })
      },
    })
    for (let time = 0; time < 3; time++) await storage.filter(samples, query)
    const { rows } = await pool.query('select name from pg_prepared_statements')
    expect(rows).toEqual([])
    await storage.close()
  })

  test('reads rows after the types of its columns have changed', async () => {
    const storage = await opened(schema.open(1))
    const read = async (): Promise<unknown> => (await storage.filter(samples, query)).rows
    const rows = [{ id: 1, label: 'first' }]
    for (let time = 0; time < 3; time++) expect(await read()).toEqual(rows)
    for (const type of ['varchar(40)', 'varchar(50)', 'text']) {
      await schema.run(`alter table samples alter column label type ${type} collate "C"`)
      expect(await read()).toEqual(rows)
      expect(await read()).toEqual(rows)
    }
    for (let time = 0; time < 3; time++) expect(await read()).toEqual(rows)
    await schema.run(`alter table samples alter column label type varchar(60) collate "C"`)
    const inTransaction = storage.transaction({ mode: 'read', brief: false }, (on) =>
      on.filter(samples, query),
    )
    await expect(inTransaction).rejects.toMatchObject({ kind: 'unavailable', isConflict: true })
    expect(await read()).toEqual(rows)
    await storage.close()
  })
})
