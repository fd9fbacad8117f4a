import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../../src/entries/conformance.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { startPglite, type OwnPglite } from '../../kit/pglite.ts'
import { missingServer } from '../../kit/postgres.ts'
import { isMatrix } from '../../kit/storages.ts'

const missing = await missingServer()

// It takes longer than a server, and several hundred megabytes.
describe.runIf(isMatrix || missing !== undefined)('PGlite', () => {
  let database: OwnPglite
  beforeAll(async () => {
    database = await startPglite()
  }, 60_000)
  afterAll(() => database.close())

  const open = () => postgresStorage(database.pool, { ensureSchema: true })
  testStorageAdapter({
    test,
    create: async () => {
      await database.clear()
      return open()
    },
    reopen: open,
  })
})
