import { existsSync, renameSync } from 'node:fs'
import { get } from 'node:http'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { customers, rowOf, samples } from '../../../src/conformance/collections.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { toNodeHandler } from '../../../src/entries/node.ts'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import type { Observation } from '../../../src/entries/index.ts'
import { equal } from '../../../src/request/query.ts'
import { searchText, type StorageAdapter, type StorageError } from '../../../src/storage/adapter.ts'
import {
  sqliteStorage,
  type SqliteDriver,
  type SqliteOptions,
} from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { startPlain } from '../../kit/client-and-tls.ts'
import { programs } from '../../kit/programs.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import type { ScanOrder } from './scan-process.ts'

// A search in it never ends.
const endless = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text() },
  publishes: ['Filter'],
})
const endlessView = `CREATE VIEW endless (id, name) AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL
  SELECT i + 1 FROM n) SELECT CAST(i AS INTEGER), CAST('x' || i AS TEXT) FROM n`
// A search in it takes a few hundred milliseconds.
const longView = endlessView
  .replace('VIEW endless', 'VIEW long')
  .replace('FROM n)', 'FROM n LIMIT 600000)')
const notes = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
const publishedEndless = publishCollection('app', 'endless', endless)
const publishedLong = publishCollection('app', 'long', endless)
const publishedNotes = publishCollection('app', 'notes', notes)
const never = { fields: ['name'], text: 'nowhere' }
const search = queryOf(publishedEndless, { search: never, limit: 10 })
const threaded = { scanRows: 0 }
const scanProcess = programs<ScanOrder>('test/storage/sqlite/scan-process.ts')

interface Files {
  /** Opens the file once more, with these options. */
  open(options?: SqliteOptions): Promise<StorageAdapter>
  readonly path: string
}

/** Creates a file with a view that has no end, and with a table of notes. */
function fileWith(driver: SqliteDriver, notesCount = 0): Files {
  const path = `${temporaryFolder()}/a.db`
  const handle = openHandle(driver, path)
  handle.exec(`${endlessView};${longView}`)
  handle.exec(`CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT);
    CREATE INDEX notes_name ON notes (name);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${notesCount})
    INSERT INTO notes SELECT i, 'note ' || i FROM n WHERE ${notesCount} > 0`)
  handle.close()
  return {
    path,
    open: async (options = {}) => {
      const storage = sqliteStorage(path, { driver, ensureSchema: true, ...options })
      onTestFinished(() => storage.close())
      await storage.open([publishedEndless, publishedLong, publishedNotes, customers, samples])
      return storage
    },
  }
}

/** How promises were rejected, by the kinds of their errors. */
async function kindsOf(promises: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const results = await Promise.allSettled(promises)
  return results.map((one) => one.status === 'rejected' && (one.reason as StorageError).kind)
}

describe.each(drivers)('%s: a scan in the thread', (driver) => {
  const item = { conditions: [equal('id', 1)], limit: 1 }

  test('has the same pages as on the event loop', async () => {
    const files = fileWith(driver)
    const [loop, thread] = [await files.open({ scanRows: false }), await files.open(threaded)]
    const signs = Array.from('iIİıkK\u212asSßΣςσÉée\u0301Åx%_\\é1-\ufffd')
    const label = fc.array(fc.constantFrom(...signs), { maxLength: 4 }).map((some) => some.join(''))
    await loop.transaction({ mode: 'write', brief: true }, async (open) => {
      const values = fc.sample(fc.tuple(label, fc.nat(5), fc.boolean()), 150)
      for (const [id, [text, quantity, flag]] of values.entries())
        await open.insert(samples, rowOf(samples, { id, label: text, quantity, flag }))
    })
    const name = fc.constantFrom('label', 'quantity', 'flag', 'id')
    const query = fc.record<PartialQuery>(
      {
        conditions: fc.subarray([equal('quantity', 1), equal('flag', true), equal('label', null)]),
        search: label
          .filter((needle) => needle !== '')
          .map((needle) => ({ fields: ['label', 'quantity'], text: searchText(needle) })),
        sort: fc
          .uniqueArray(name, { maxLength: 2 })
          .chain((names) =>
            fc.boolean().map((descending) => names.map((field) => ({ field, descending }))),
          ),
        limit: fc.nat(20),
        offset: fc.constantFrom(0, 0, 3, 149, 150, 1_001),
        count: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        const whole = queryOf(samples, given)
        expect(await thread.filter(samples, whole)).toEqual(await loop.filter(samples, whole))
        expect(await thread.filterText?.(samples, whole)).toEqual(
          await loop.filterText?.(samples, whole),
        )
      }),
      { numRuns: 150 },
    )
  })

  test('reports a value that does not fit with the same message', async () => {
    const files = fileWith(driver)
    const handle = openHandle(driver, files.path)
    handle.exec(`INSERT INTO notes VALUES (1, x'00ff'), (2, CAST(x'ff' AS TEXT))`)
    handle.close()
    const storages = [await files.open({ scanRows: false }), await files.open(threaded)]
    for (const offset of [0, 1]) {
      const query = queryOf(publishedNotes, { offset, limit: 1, select: ['name'] })
      const failures = storages.map(async (storage) =>
        Promise.resolve(storage.filter(publishedNotes, query)).catch((error: unknown) => error),
      )
      const [loop, thread] = await Promise.all(failures)
      expect(loop).toMatchObject({ kind: 'unfit', fields: ['name'] })
      expect(String(thread)).toBe(String(loop))
    }
  })

  test('is chosen for reads that may visit all rows of a large table', async () => {
    const small = await fileWith(driver, 99).open({ scanRows: 100 })
    const large = await fileWith(driver, 100).open({ scanRows: 100 })
    const isThreaded = async (storage: StorageAdapter, given: PartialQuery): Promise<boolean> => {
      const page = storage.filter(publishedNotes, queryOf(publishedNotes, { limit: 10, ...given }))
      await page
      return page instanceof Promise
    }
    const byName = { field: 'name', descending: false }
    for (const here of [
      {},
      item,
      { ...item, conditions: [equal('id', 1), equal('name', 'a')] },
      { offset: 50 },
      { sort: [byName] },
      { conditions: [equal('name', 'a')] },
      { conditions: [equal('name', 'a')], count: true },
      { count: true },
      { conditions: [{ field: 'name', is: 'gt', value: 'a' }], sort: [byName] },
      { conditions: [{ field: 'name', is: 'in', values: ['a', 'b'] }] },
      { conditions: [{ field: 'name', is: 'startsWith', text: 'a' }], sort: [byName] },
    ] satisfies PartialQuery[]) {
      expect([here, await isThreaded(large, here)]).toEqual([here, false])
      expect([here, await isThreaded(small, here)]).toEqual([here, false])
    }
    for (const scan of [
      { search: { fields: ['name'], text: 'x' } },
      { search: { fields: ['name'], text: 'é' }, sort: [byName] },
      { search: { fields: ['name'], text: 'x' }, limit: 0, count: true },
      {
        sort: [
          { field: 'name', descending: true },
          { field: 'id', descending: false },
        ],
      },
      { offset: 91 },
      { conditions: [{ field: 'name', is: 'contains', text: 'a' }] },
      { conditions: [{ is: 'not', condition: equal('name', 'a') }] },
      {
        conditions: [
          {
            is: 'through',
            collection: publishedNotes,
            fields: ['id'],
            conditions: [],
          },
          { field: 'name', is: 'contains', text: 'a' },
        ],
      },
    ] satisfies PartialQuery[]) {
      expect([scan, await isThreaded(large, scan)]).toEqual([scan, true])
      expect([scan, await isThreaded(small, scan)]).toEqual([scan, false])
    }
  })

  test('is chosen for a table that has become large', async () => {
    const storage = await fileWith(driver, 99).open({ scanRows: 100 })
    const query = queryOf(publishedNotes, { search: never })
    expect(storage.filter(publishedNotes, query)).not.toBeInstanceOf(Promise)
    await storage.transaction({ mode: 'write', brief: true }, async (open) =>
      open.insert(publishedNotes, { id: 100, name: 'one more' }),
    )
    let page = storage.filter(publishedNotes, query)
    while (!(page instanceof Promise)) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      page = storage.filter(publishedNotes, query)
    }
    expect(await page).toEqual({ rows: [], count: null })
  })

  test('is chosen for a view after a read of it has taken long', async () => {
    const storage = await fileWith(driver).open()
    const query = queryOf(publishedLong, { search: never })
    const here = storage.filter(publishedLong, query)
    expect(here).toEqual({ rows: [], count: null })
    const sorted = { search: never, sort: [{ field: 'name', descending: true }] }
    const threaded = storage.filter(publishedLong, queryOf(publishedLong, sorted))
    expect(threaded).toBeInstanceOf(Promise)
    expect(await threaded).toEqual(here)
    expect(storage.filter(publishedLong, queryOf(publishedLong, { limit: 1 }))).toMatchObject({
      rows: [{ id: 1 }],
    })
  })

  test('sees each change that was committed before it', async () => {
    const storage = await fileWith(driver).open(threaded)
    for (let id = 1; id <= 30; id++) {
      await storage.transaction({ mode: 'write', brief: true }, async (open) =>
        open.insert(publishedNotes, { id, name: `round ${id}.` }),
      )
      const given = { search: { fields: ['name'], text: `round ${id}.` }, count: true }
      const { count } = await storage.filter(publishedNotes, queryOf(publishedNotes, given))
      expect(count).toBe(1)
    }
  })

  test('does not delay other reads and writes', async () => {
    const storage = await fileWith(driver, 10).open(threaded)
    const scan = Promise.resolve(storage.filter(publishedEndless, search))
    let isOver = false
    const over = scan.catch(() => (isOver = true))
    for (let id = 11; id < 111; id++) {
      await storage.transaction({ mode: 'write', brief: true }, async (open) =>
        open.insert(publishedNotes, { id, name: 'a' }),
      )
      expect(
        (await storage.filter(publishedNotes, queryOf(publishedNotes, item))).rows,
      ).toHaveLength(1)
    }
    expect(isOver).toBe(false)
    await storage.close()
    await over
    expect(isOver).toBe(true)
  })

  test('is rejected when too many are waiting, and when the storage is closed', async () => {
    const storage = await fileWith(driver).open({ ...threaded, scanQueue: 2 })
    const scans = [1, 2, 3, 4].map(async () => storage.filter(publishedEndless, search))
    const kinds = kindsOf(scans)
    await expect(scans[3]).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: '2 reads of large tables are waiting already' },
    })
    await storage.close()
    expect(await kinds).toEqual(scans.map(() => 'unavailable'))
    await expect(storage.filter(publishedEndless, search)).rejects.toMatchObject({
      cause: { message: 'the storage is closed' },
    })
  })

  test('runs with a queue of 0 while no other one runs', async () => {
    const storage = await fileWith(driver, 3).open({
      ...threaded,
      scanQueue: 0,
      scanTimeout: 2_000,
    })
    const all = queryOf(publishedNotes)
    expect((await storage.filter(publishedNotes, all)).rows).toHaveLength(3)
    const scan = Promise.resolve(storage.filter(publishedEndless, search))
    await expect(storage.filter(publishedNotes, all)).rejects.toMatchObject({
      cause: { message: '0 reads of large tables are waiting already' },
    })
    await expect(scan).rejects.toMatchObject({ kind: 'unavailable' })
    // Its place is free once the thread has noticed.
    await expect
      .poll(async () => Promise.resolve(storage.filter(publishedNotes, all)).catch(() => null))
      .toMatchObject({ rows: [{}, {}, {}] })
  })

  test('is interrupted after scanTimeout, and the next one begins', async () => {
    const storage = await fileWith(driver, 3).open({ ...threaded, scanTimeout: 1_000 })
    const begun = Promise.resolve(storage.filter(publishedEndless, search))
    await expect(begun).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: 'a read of a large table took over 1000 ms' },
    })
    const { count } = await storage.filter(publishedNotes, queryOf(publishedNotes, { count: true }))
    expect(count).toBe(3)
  })

  test('leaves no file open when the storage is closed during it', async () => {
    const files = fileWith(driver)
    const storage = await files.open(threaded)
    // A connection of the thread is open.
    await storage.filter(publishedNotes, queryOf(publishedNotes))
    const scan = Promise.resolve(storage.filter(publishedEndless, search))
    scan.catch(() => undefined)
    await storage.close()
    await expect(scan).rejects.toMatchObject({ kind: 'unavailable' })
    expect([files.path, `${files.path}-wal`].map((path) => existsSync(path))).toEqual([true, false])
  })

  test('starts the thread again after it has died', async () => {
    const files = fileWith(driver, 3)
    const storage = await files.open(threaded)
    renameSync(files.path, `${files.path}.moved`)
    const scans = [1, 2].map(async () => storage.filter(publishedNotes, queryOf(publishedNotes)))
    expect(await kindsOf(scans)).toEqual(['unavailable', 'unavailable'])
    renameSync(`${files.path}.moved`, files.path)
    const { rows } = await storage.filter(publishedNotes, queryOf(publishedNotes))
    expect(rows).toHaveLength(3)
  })

  test('gives up when its client disconnects', async () => {
    const files = fileWith(driver, 3)
    const reports: Observation[] = []
    const service = createService({
      applications: { app: { collections: { endless, notes } } },
      security: openAccess(),
      storage: sqliteStorage(files.path, { driver, ...threaded, scanQueue: 1 }),
      report: (observation) => reports.push(observation),
    })
    onTestFinished(() => service.close())
    const { port, close } = await startPlain(toNodeHandler(service), '127.0.0.1')
    onTestFinished(close)
    const url = `http://127.0.0.1:${port}/rest/v1/app`
    const clients = [1, 2].map(() => get(`${url}/endless?$q=nowhere`).on('error', () => undefined))
    let status = 0
    // Until the queue is full.
    while (status !== 503) status = (await fetch(`${url}/notes?$q=note`)).status
    expect(reports.splice(0)).toMatchObject([{ type: 'storage-unavailable' }])
    for (const client of clients) client.destroy()
    while (status !== 200) status = (await fetch(`${url}/notes?$q=note`)).status
    await service.close()
    const types = new Set(reports.map(({ type }) => type))
    // Each read for which there was no place is reported, and no client that disconnected.
    expect([...types].filter((type) => type !== 'storage-unavailable')).toEqual([])
    for (const report of reports)
      expect(String((report as { error: Error }).error.cause)).toMatch(/waiting/)
  })
})

test.each(drivers)('%s: a process ends after its scans, without close', async (driver) => {
  const { path } = fileWith(driver, 3)
  const done = scanProcess.start({ path, driver, task: 'search', table: 'notes' })
  expect(await done.ended).toBe(0)
  expect(done.all('found')).toEqual(['3'])
})

test.each(drivers)('%s: process.exit() does not wait for a scan', async (driver) => {
  const { path } = fileWith(driver)
  const exited = scanProcess.start({ path, driver, task: 'exit', table: 'endless' })
  expect(await exited.ended).toBe(7)
})
