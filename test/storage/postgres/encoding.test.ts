import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, openAccess, text } from '../../../src/entries/index.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { connections } from '../../../src/storage/postgres/connection.ts'
import { completePostgres } from '../../../src/storage/postgres/options.ts'
import { encodingMistakes } from '../../../src/schema/postgres/schema-database.ts'
import { address, missingServer } from '../../kit/postgres.ts'
import { testName } from '../../kit/shared-connections.ts'

const notes = defineCollection({ key: 'name', fields: { name: text() } })
const latin1 = "The encoding of the database is LATIN1. Create it with ENCODING 'UTF8'."

describe.skipIf((await missingServer()) !== undefined)(
  'a database of PostgreSQL with the encoding LATIN1',
  () => {
    const database = testName()
    const admin = new Pool({ ...address, max: 1 })
    beforeAll(() =>
      admin.query(`create database ${database} encoding 'LATIN1' locale 'C' template template0`),
    )
    afterAll(async () => {
      // The server waits some seconds for the connections that the tests have ended.
      await admin.query(`drop database ${database}`)
      await admin.end()
    })

    const poolOf = (settings: object): Pool => {
      const pool = new Pool({ ...address, ...settings, max: 1 })
      onTestFinished(() => pool.end())
      return pool
    }

    const mistakesOf = (settings: object) =>
      connections(poolOf(settings), completePostgres({})).use(encodingMistakes)

    test('is a mistake, and one with UTF8 is not', async () => {
      expect(await mistakesOf({ database })).toEqual([latin1])
      expect(await mistakesOf({})).toEqual([])
    })

    test.each([false, true])(
      'is rejected when a service opens it, and no table is created, with ensureSchema: %s',
      async (ensureSchema) => {
        const pool = poolOf({ database })
        const service = createService({
          applications: { app: { collections: { notes } } },
          storage: postgresStorage(pool, { ensureSchema }),
          security: openAccess(),
        })
        onTestFinished(() => service.close())
        await expect(service.ready()).rejects.toThrow(
          new TypeError(`postgresStorage: the tables do not fit.\n- ${latin1}`),
        )
        const { rows } = await pool.query("select 1 from pg_tables where schemaname = 'public'")
        expect(rows).toEqual([])
      },
    )
  },
)
