import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { publishCollection, type PublishedCollection } from '../../../src/definition/published.ts'
import { defineCollection, text } from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import type { Condition, StorageTransaction } from '../../../src/entries/storage.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const item = { key: 'id', fields: { id: text(), parent: text() } } as const
const [parents, children, notes, overview] = [
  publishCollection('shop', 'parents', defineCollection(item)),
  publishCollection('shop', 'children', defineCollection({ ...item, table: 'Children' })),
  publishCollection('shop', 'notes', defineCollection(item)),
  publishCollection('shop', 'overview', defineCollection({ ...item, publishes: ['Filter'] })),
] as const
const collections = [parents, children, notes, overview]

const tables = `
  CREATE TABLE parents (id TEXT NOT NULL PRIMARY KEY, parent TEXT);
  CREATE TABLE children (
    id TEXT NOT NULL PRIMARY KEY, parent TEXT REFERENCES parents ON DELETE CASCADE);
  CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, parent TEXT) WITHOUT ROWID;
  CREATE VIEW overview AS SELECT id, parent FROM parents;
`

/** Opens a storage over tables that somebody else has made, and a connection of another program. */
async function open(driver: SqliteDriver, maxStaleness: number, more = '') {
  const file = join(temporaryFolder(), 'data.db')
  const other = openHandle(driver, file)
  other.exec(tables + more)
  const storage = sqliteStorage(file, { driver, maxStaleness })
  await storage.open(collections)
  onTestFinished(async () => {
    await storage.close()
    other.close()
  })
  let seen = new Map<PublishedCollection, unknown>()
  const versions = () => new Map(collections.map((each) => [each, storage.version?.([each])]))
  return {
    storage,
    other,
    write: async (work: (on: StorageTransaction) => unknown) => {
      await storage.transaction({ mode: 'write', brief: true }, async (on) => {
        await work(on)
      })
    },
    /** Names the collections whose version has changed since the last call. */
    changed: () => {
      const before = seen
      seen = versions()
      return collections.filter((each) => before.get(each) !== seen.get(each)).map((c) => c.name)
    },
  }
}

const byId = (value: string): Condition[] => [{ field: 'id', is: 'equal', value }]
const all = ['parents', 'children', 'notes', 'overview']

test.each(drivers)('%s: a write changes the version of its table, and of views', async (driver) => {
  const { write, changed, storage } = await open(driver, 60_000)
  changed()
  expect(changed()).toEqual([])
  await write((on) => on.insert(notes, { id: 'a', parent: null }))
  expect(changed()).toEqual(['notes', 'overview'])
  await write((on) => on.update(notes, byId('a'), { parent: 'b' }))
  expect(changed()).toEqual(['notes', 'overview'])
  await write((on) => on.insert(parents, { id: 'p', parent: null }))
  await write((on) => on.insert(children, { id: 'c', parent: 'p' }))
  expect(changed()).toEqual(['parents', 'children', 'overview'])
  await storage.filter(notes, {
    conditions: [],
    search: null,
    sort: [],
    limit: 10,
    offset: 0,
    select: ['id'],
    count: false,
  })
  expect(changed()).toEqual([])
})

test.each(drivers)(
  '%s: cascades and triggers change the versions of their tables',
  async (driver) => {
    const trigger = `CREATE TRIGGER log AFTER INSERT ON parents BEGIN
    INSERT INTO notes VALUES (new.id, NULL); END;`
    const { write, changed } = await open(driver, 60_000, trigger)
    changed()
    await write((on) => on.insert(parents, { id: 'p', parent: null }))
    expect(changed()).toEqual(['parents', 'notes', 'overview'])
    await write((on) => on.insert(children, { id: 'c', parent: 'p' }))
    expect(changed()).toEqual(['children', 'overview'])
    await write((on) => on.delete(parents, byId('p')))
    expect(changed()).toEqual(['parents', 'children', 'overview'])
  },
)

test.each(drivers)(
  '%s: a trigger that writes a virtual table changes all versions',
  async (driver) => {
    const search = `CREATE VIRTUAL TABLE search USING fts5(id);
    CREATE TRIGGER index_note AFTER INSERT ON notes BEGIN
      INSERT INTO search (id) VALUES (new.id); END;`
    const { write, changed } = await open(driver, 60_000, search)
    changed()
    await write((on) => on.insert(notes, { id: 'a', parent: null }))
    expect(changed()).toEqual(all)
  },
)

test.each(drivers)(
  '%s: a trigger that deletes all rows of a table changes its version',
  async (driver) => {
    const trigger = `CREATE TRIGGER clear AFTER INSERT ON parents BEGIN
      DELETE FROM children; DELETE FROM notes; END;`
    const { write, changed } = await open(driver, 60_000, trigger)
    changed()
    await write((on) => on.insert(parents, { id: 'p', parent: null }))
    expect(changed()).toEqual(all)
  },
)

test.each(drivers)('%s: a rejected transaction changes no version', async (driver) => {
  const { write, changed } = await open(driver, 60_000)
  changed()
  const rejected = write(async (on) => {
    await on.insert(notes, { id: 'a', parent: null })
    throw new Error('no')
  })
  await expect(rejected).rejects.toThrow('no')
  expect(changed()).toEqual([])
})

test.each(drivers)('%s: a commit of another connection changes all versions', async (driver) => {
  const { other, changed } = await open(driver, 0)
  changed()
  other.exec(`INSERT INTO notes VALUES ('x', NULL)`)
  expect(changed()).toEqual(all)
  expect(changed()).toEqual([])
})

test.each(drivers)(
  '%s: by default it is known in the next turn of the event loop',
  async (driver) => {
    const { other, changed } = await open(driver, 60_000)
    changed()
    other.exec(`INSERT INTO notes VALUES ('x', NULL)`)
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(changed()).toEqual(all)
  },
)

test.each(drivers)('%s: a trigger that another connection creates counts', async (driver) => {
  const { other, write, changed } = await open(driver, 60_000)
  await write((on) => on.insert(parents, { id: 'p', parent: null }))
  changed()
  other.exec(`CREATE TRIGGER log AFTER INSERT ON parents BEGIN
    INSERT INTO notes VALUES (new.id, NULL); END;`)
  await write((on) => on.insert(parents, { id: 'q', parent: null }))
  expect(changed()).toContain('notes')
  await write((on) => on.insert(parents, { id: 'r', parent: null }))
  expect(changed()).toEqual(['parents', 'notes', 'overview'])
})

test.each(drivers)('%s: in a read transaction the version is unknown', async (driver) => {
  const { storage, other } = await open(driver, 0)
  let within: unknown = 'not read'
  await storage.transaction({ mode: 'read', brief: false }, async (on) => {
    await on.update(notes, byId('none'), {})
    other.exec(`INSERT INTO notes VALUES ('x', NULL)`)
    within = storage.version?.([notes])
  })
  expect(within).toBeUndefined()
  expect(storage.version?.([notes])).toBeTypeOf('number')
})

const timely = [
  `SELECT id, datetime('now') AS parent FROM parents`,
  'SELECT id, parent FROM parents WHERE id > CURRENT_TIMESTAMP',
  'SELECT id, random() AS parent FROM parents',
  'SELECT value AS id, parent FROM parents, json_each(parents.parent)',
  'SELECT id, parent FROM recent',
]

test.each(drivers.flatMap((driver) => timely.map((view) => [driver, view] as const)))(
  '%s: the version of a view that depends on more than tables is unknown: %s',
  async (driver, view) => {
    const { other, storage } = await open(driver, 0)
    expect(storage.version?.([overview])).toBeTypeOf('number')
    other.exec(`CREATE VIEW recent AS SELECT id, parent FROM parents WHERE date() > '2020-01-01';
      DROP VIEW overview; CREATE VIEW overview AS ${view}`)
    expect(storage.version?.([overview])).toBeUndefined()
    expect(storage.version?.([notes, overview])).toBeUndefined()
    expect(storage.version?.([notes])).toBeTypeOf('number')
  },
)

test.each(drivers)('%s: a table that became a view depends on any table', async (driver) => {
  const { other, write, changed } = await open(driver, 60_000)
  changed()
  other.exec('DROP TABLE notes; CREATE VIEW notes AS SELECT id, parent FROM parents')
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  expect(changed()).toEqual(all)
  await write((on) => on.insert(parents, { id: 'p', parent: null }))
  expect(changed()).toEqual(['parents', 'notes', 'overview'])
})
