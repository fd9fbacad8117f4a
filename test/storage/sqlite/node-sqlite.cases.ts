// Run by node:test on a Node that has node:sqlite: see node-sqlite.test.ts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testStorageAdapter } from '../../../src/entries/conformance.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-'))
after(() => {
  rmSync(folder, { recursive: true })
})

let files = 0
let file = ''
// No case has a power failure, and waiting for the disk takes most of the time.
const options = { ensureSchema: true, driver: 'node:sqlite', synchronous: 'NORMAL' } as const

// The second time, pages are read in a thread. Each case starts one.
for (const [scanRows, chosen] of [
  [5_000, /./],
  [0, /search|page as text/],
] as const) {
  const open = () => sqliteStorage(file, { ...options, scanRows })
  testStorageAdapter({
    test: (name, run) => (chosen.test(name) ? test(`${name} (${scanRows})`, run) : undefined),
    create: () => {
      file = join(folder, `${++files}.db`)
      return open()
    },
    reopen: open,
  })
}
