import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../../src/entries/conformance.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('PostgreSQL', () => {
  let schema: TestSchema
  beforeAll(async () => {
    schema = await testSchema()
  })
  afterAll(() => schema.drop())

  const open = () => postgresStorage(schema.pool, { ensureSchema: true })
  testStorageAdapter({
    test,
    create: async () => {
      await schema.clear()
      return open()
    },
    reopen: open,
    another: open,
  })
})
