// Run by node:test on a Node that has node:sqlite: see node-sqlite.test.ts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testStorageAdapter } from '../../../src/conformance/index.ts'
import { sqliteStorage } from '../../../src/storage/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-'))
after(() => {
  rmSync(folder, { recursive: true })
})

let files = 0
let file = ''
const open = () => sqliteStorage(file, { ensureSchema: true, driver: 'node:sqlite' })

testStorageAdapter({
  test,
  create: () => {
    file = join(folder, `${++files}.db`)
    return open()
  },
  reopen: open,
})
