import { describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../src/conformance/case.ts'
import { integer, text } from '../../src/definition/field.ts'
import { publishCollection } from '../../src/definition/published.ts'
import { equal } from '../../src/request/query.ts'
import { statementNames } from '../../src/storage/postgres/statement-names.ts'
import { raw } from '../../src/storage/sql/fragments.ts'
import { statementBytes, statementTexts } from '../../src/storage/sql/shape.ts'
import { connectionOf, openReadOnly } from '../../src/storage/sqlite/connection/open.ts'
import { completeSqlite } from '../../src/storage/sqlite/connection/options.ts'
import { threadedReads } from '../../src/storage/sqlite/reading/reads.ts'
import { ReadSession, type Opened } from '../../src/storage/sqlite/reading/read-session.ts'
import { statementCache } from '../../src/storage/sqlite/statements/statement-cache.ts'
import { readTables } from '../../src/schema/sqlite/read-tables.ts'
import { WrittenTables } from '../../src/storage/sqlite/writing/written-tables.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { programs } from '../kit/programs.ts'
import { temporaryFolder } from '../kit/storages.ts'
import type { ShapesOrder } from './chosen-shapes-process.ts'

const mebibyte = 1024 * 1024
const shapes = programs<ShapesOrder>('test/storage/chosen-shapes-process.ts', [
  '--max-old-space-size=64',
])

/** A text of a length that differs from all others. */
const textOf = (index: number, length: number): string => `${index} `.padEnd(length, 'x')

test('20,000 statements of SQLite are prepared, and few bytes of them are kept', () => {
  const cache = statementCache({ entries: () => 256, bytes: () => 8 * mebibyte })
  for (let index = 0; index < 20_000; index++) {
    const shape = textOf(index, 500)
    const write = () => ({ sql: textOf(index, (index * 7) % 9_000), slots: [] })
    cache.run(shape, write, () => () => undefined, { conditions: [] })
    if (index % 100 > 0) continue
    const { entries, bytes } = cache.size()
    expect(entries).toBeLessThanOrEqual(256)
    expect(bytes).toBeLessThanOrEqual(8 * mebibyte)
  }
  expect(cache.size().entries).toBeGreaterThan(16)
})

test('20,000 statements of PostgreSQL and MariaDB keep few bytes, and more for many collections', () => {
  const texts = statementTexts(2)
  for (let index = 0; index < 20_000; index++) {
    texts.find(textOf(index, 300), () => raw(textOf(index, 20_000)))
    if (index % 100 > 0) continue
    expect(texts.size().entries).toBeLessThanOrEqual(256)
    expect(texts.size().bytes).toBeLessThanOrEqual(8 * mebibyte)
  }
  expect(texts.size().entries).toBeGreaterThan(16)
  expect([0, 32, 1_000].map(statementBytes)).toEqual([8, 8, 250].map((size) => size * mebibyte))
})

test('20,000 statements that are run again leave few prepared on a connection of PostgreSQL', () => {
  const names = statementNames('one')
  let ended = 0
  for (let index = 0; index < 20_000 && !names.isWorn(); index++) {
    const statement = textOf(index, 20_000)
    expect(names.nameOf(statement)).toBeUndefined()
    names.nameOf(statement)
    ended += names.unused().length
    expect(names.size().bytes).toBeLessThanOrEqual(2 * mebibyte)
  }
  expect(ended).toBeGreaterThan(500)
  // The driver keeps the text of each name, so the connection is replaced.
  expect(names.isWorn()).toBe(true)
  const huge = 'y'.repeat(mebibyte)
  expect([names.nameOf(huge), names.nameOf(huge)]).toEqual([undefined, undefined])
})

const columns = Array.from({ length: 40 }, (_, index) => textOf(index, 60).replace(/\W/g, '_'))
const wide = publishCollection('app', 'wide', {
  key: 'id',
  fields: { id: integer(), ...Object.fromEntries(columns.map((name) => [`f${name}`, text()])) },
})
const names = wide.allNames.filter((name) => name !== 'id')

/** Some of the names, others for each index. */
const some = (index: number): readonly string[] =>
  names.filter((_name, place) => ((index + 1) & (1 << (place % 13))) !== 0)

describe.each(drivers)('with %s', (driver) => {
  function openWide() {
    const path = `${temporaryFolder()}/wide.db`
    const handle = openHandle(driver, path)
    onTestFinished(() => handle.close() as undefined)
    handle.exec('PRAGMA journal_mode = WAL')
    handle.exec(
      `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${names.map((name) => `${name} TEXT`).join(', ')})`,
    )
    handle.exec('INSERT INTO wide (id) VALUES (1), (2), (3)')
    return { path, connection: connectionOf(handle) }
  }

  test('what is remembered of reads has bounds, also of those in the thread', async () => {
    const { path } = openWide()
    const connection = openReadOnly(path, driver)
    onTestFinished(() => connection.close())
    const opened: Opened = {
      guaranteed: new Map(),
      identities: new Map(),
      readBack: new Set(),
      searchIndexFor: () => undefined,
      collections: () => 1,
    }
    const session = new ReadSession(connection, opened)
    const reads = threadedReads(connection, session, completeSqlite({ scanRows: 2 }))
    reads.opened(readTables(connection, [wide]), [wide])
    for (let index = 0; index < 900; index++) {
      const conditions = some(index).map((name) => equal(name, 'none'))
      await reads.filter(wide, queryOf(wide, { conditions, limit: 2 }))
    }
    const sizes = reads.sizes()
    expect(sizes[0]?.entries).toBeGreaterThan(50)
    for (const { entries, bytes } of sizes) {
      expect(entries).toBeLessThanOrEqual(1_024)
      expect(bytes).toBeLessThanOrEqual(4 * mebibyte)
    }
    await reads.close()
  }, 30_000)

  test('what is remembered of writes has bounds', () => {
    const { connection } = openWide()
    const written = new WrittenTables(connection)
    for (let index = 0; index < 5_000; index++) {
      const assignments = some(index).map((name) => `${name} = 'y'`)
      written.note(`UPDATE wide SET ${assignments.join(', ')} WHERE id = ${index}`, [])
      expect(written.size().bytes).toBeLessThanOrEqual(4 * mebibyte)
    }
    expect(written.size().entries).toBeGreaterThan(100)
  }, 30_000)
})

test('a small process responds to thousands of filters, lists of fields and orders', async () => {
  const path = `${temporaryFolder()}/wide.db`
  const running = shapes.start({ path, shapes: 2_400 })
  expect(await running.ended).toBe(0)
  expect(running.all('responded')).toEqual(['2400'])
  expect(Number(running.all('megabytes')[0])).toBeLessThan(150)
}, 120_000)
