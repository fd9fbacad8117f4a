import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openToRead } from '../../../src/storage/sqlite/connection/open.ts'
import { completeSqlite } from '../../../src/storage/sqlite/connection/options.ts'
import { drivers } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { runStatements } from './raw.ts'

test.each(drivers)('with %s, a file that fails to open to read is closed', (driver) => {
  const file = join(temporaryFolder(), 'shop.db')
  runStatements(file, 'PRAGMA journal_mode = WAL; CREATE TABLE items (id INTEGER PRIMARY KEY)')
  const options = completeSqlite({ driver, extensions: ['/nowhere/x.so'] })
  expect(() => openToRead(file, options)).toThrow('/nowhere/x')
  // An open connection keeps them.
  for (const end of ['-wal', '-shm']) expect(existsSync(`${file}${end}`)).toBe(false)
})

test.each(drivers)('with %s, a file that does not exist takes extensions', (driver) => {
  const options = completeSqlite({ driver, extensions: ['/nowhere/x.so'] })
  const absent = join(temporaryFolder(), 'shop.db')
  // The driver has tried to load it.
  expect(() => openToRead(absent, options)).toThrow('/nowhere/x')
})
