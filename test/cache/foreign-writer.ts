import { openHandle } from '../kit/databases.ts'
import type { SqliteDriver } from '../../src/entries/sqlite.ts'
import { random } from './random.ts'

/** What a foreign writer is started with. */
export interface Order {
  readonly file: string
  readonly driver: SqliteDriver
  readonly seed: number
}

const { file, driver, seed } = JSON.parse(process.argv[2] ?? '') as Order
const handle = openHandle(driver, file)
handle.exec('PRAGMA busy_timeout = 2000; PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF')
const { below } = random(seed)
let writes = 0
let isEnding = false

/** Returns a text that no other write has. */
const unique = (): string => `'${process.pid} ${writes}'`

const rows: readonly (() => string)[] = [
  () => `UPDATE shared SET title = ${unique()} WHERE id = ${below(100)}`,
  () =>
    `UPDATE shared SET owner = 'user ${below(50)}', title = ${unique()} WHERE id = ${below(100)}`,
  () => `UPDATE secrets SET title = ${unique()}, secret = ${unique()} WHERE id = ${below(20)}`,
  () => `UPDATE plain SET title = ${unique()} WHERE id = ${below(40)}`,
  () => `INSERT OR IGNORE INTO plain VALUES (${below(60)}, ${unique()})`,
  () => `DELETE FROM plain WHERE id = ${below(60)}`,
  () => `INSERT OR IGNORE INTO parents VALUES (${below(8)}, ${unique()})`,
  () => `INSERT OR IGNORE INTO children SELECT ${below(200)}, id, ${unique()} FROM parents LIMIT 1`,
  () => `DELETE FROM parents WHERE id = ${below(8)}`,
]

// Each is one transaction, so that no reader finds the view or trigger missing.
const schemas: readonly (() => string)[] = [
  () => `DROP TRIGGER IF EXISTS foreign_trigger;
    CREATE TRIGGER foreign_trigger AFTER INSERT ON own BEGIN
      INSERT INTO log (what) VALUES ('own ' || new.id || ${unique()}); END`,
  () => `DROP TRIGGER IF EXISTS foreign_trigger;
    CREATE TRIGGER foreign_trigger AFTER INSERT ON own BEGIN DELETE FROM log; END`,
  () => 'DROP TRIGGER IF EXISTS foreign_trigger',
  () => `DROP VIEW overview; CREATE VIEW overview AS
    SELECT parent AS id, count(*) AS total FROM children GROUP BY parent`,
  () => `DROP VIEW overview; CREATE VIEW overview AS SELECT id, length(title) AS total FROM own`,
  () => `DROP INDEX IF EXISTS foreign_index; CREATE INDEX foreign_index ON plain (title)`,
  () => `ALTER TABLE log RENAME TO log_before; ALTER TABLE log_before RENAME TO log`,
]

function write(): void {
  writes += 1
  const list = below(60) === 0 ? schemas : rows
  const [first, ...others] = [list[below(list.length)], ...(below(4) === 0 ? rows.slice(0, 2) : [])]
  const work = [first, ...others].map((make) => make?.()).join(';')
  handle.exec(`BEGIN IMMEDIATE; ${work}; UPDATE foreignWrites SET total = total + 1; COMMIT`)
}

async function run(): Promise<void> {
  while (!isEnding) {
    for (let left = 1 + below(6); left > 0; left--) {
      write()
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Quiet times let many responses come from the cache.
    const pause = below(12) === 0 ? 400 : below(24)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  handle.close()
  console.log(`writes ${writes}`)
}

process.stdin.on('end', () => {
  isEnding = true
})
process.stdin.resume()
console.log('started ')
void run()
