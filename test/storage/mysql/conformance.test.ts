import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../../src/entries/conformance.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { missingServer, testDatabase, type TestDatabase } from '../../kit/mysql.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('MariaDB', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.drop())

  const open = () => mysqlStorage(database.pool, { ensureSchema: true })
  testStorageAdapter({
    test,
    create: async () => {
      await database.clear()
      return open()
    },
    reopen: open,
    another: open,
  })
})
