import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { median } from './statistics.ts'

/** The name by which `--only` selects the introspection of 200 tables. */
export const introspection = 'introspection'

const tables = 200
const rounds = 5
const program = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

/** Measures `rowgate introspect` of 200 tables of ten columns and 100 rows, with the start of the process. */
export function measureIntrospection(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-introspection-'))
  try {
    const file = join(folder, 'data.db')
    createTables(file)
    const times = Array.from({ length: rounds }, () => {
      const began = performance.now()
      execFileSync(process.execPath, [program, 'introspect', file], { stdio: 'ignore' })
      return performance.now() - began
    })
    const line = `| ${(median(times) / 1000).toFixed(2)} s |`
    console.log(line)
    return [
      '### `rowgate introspect` of 200 tables of ten columns',
      '',
      '| Time |',
      '| ---: |',
      line,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function createTables(file: string): void {
  const database = new Database(file)
  database.exec('BEGIN')
  for (let number = 1; number <= tables; number++) {
    const parent = number === 1 ? '' : ` REFERENCES table_${number - 1}`
    database.exec(`
      CREATE TABLE table_${number} (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, note TEXT, price REAL,
        amount INTEGER DEFAULT 1, created_at TEXT, is_open INTEGER, ratio DOUBLE, day DATE, parent INTEGER${parent});
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO table_${number} SELECT i, 'Name ' || i, NULL, i / 4.0, i, datetime(i * 86400, 'unixepoch'), i % 2,
        i / 7.0, date(i * 86400, 'unixepoch'), i FROM n`)
  }
  database.exec('COMMIT')
  database.close()
}
