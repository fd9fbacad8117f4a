import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, test } from 'vitest'
import { testStorageAdapter } from '../../../src/entries/conformance.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const driver = 'better-sqlite3'
// No case has a power failure, and waiting for the disk takes most of the time.
const options = { ensureSchema: true, driver, synchronous: 'NORMAL' } as const
const readCases = /count|page|search/
let files = 0

describe('a file opened by better-sqlite3', () => {
  let file = ''
  testStorageAdapter({
    test,
    create: () => {
      file = join(folder, `${++files}.db`)
      return sqliteStorage(file, options)
    },
    reopen: () => sqliteStorage(file, options),
    another: () => sqliteStorage(file, options),
  })
})

describe('a file whose pages are read in a thread', () => {
  let file = ''
  const open = () => sqliteStorage(file, { ...options, scanRows: 0 })
  testStorageAdapter({
    // Each case starts a thread, so the others are left out.
    test: (name, run) => (readCases.test(name) ? test(name, run) : undefined),
    create: () => {
      file = join(folder, `${++files}.db`)
      return open()
    },
    reopen: open,
  })
})

describe('a database in memory', () => {
  testStorageAdapter({
    test,
    create: () => sqliteStorage(':memory:', options),
  })
})

describe('a handle of better-sqlite3 that the application has opened', () => {
  let handle: Database.Database
  testStorageAdapter({
    test,
    create: () => {
      handle = new Database(join(folder, `${++files}.db`))
      handle.pragma('synchronous = OFF')
      return sqliteStorage(handle, { ensureSchema: true })
    },
    reopen: () => sqliteStorage(handle, { ensureSchema: true }),
    destroy: () => {
      handle.close()
    },
  })
})
