import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../../src/conformance/index.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const driver = 'better-sqlite3'
let files = 0

describe('a file opened by better-sqlite3', () => {
  let file = ''
  testStorageAdapter({
    test,
    create: () => {
      file = join(folder, `${++files}.db`)
      return sqliteStorage(file, { ensureSchema: true, driver })
    },
    reopen: () => sqliteStorage(file, { ensureSchema: true, driver }),
    another: () => sqliteStorage(file, { ensureSchema: true, driver }),
  })
})

describe('a database in memory', () => {
  testStorageAdapter({
    test,
    create: () => sqliteStorage(':memory:', { ensureSchema: true, driver }),
  })
})

describe('a handle of better-sqlite3 that the application has opened', () => {
  let handle: Database.Database
  testStorageAdapter({
    test,
    create: () => {
      handle = new Database(join(folder, `${++files}.db`))
      return sqliteStorage(handle, { ensureSchema: true })
    },
    reopen: () => sqliteStorage(handle, { ensureSchema: true }),
    destroy: () => {
      handle.close()
    },
  })
})
