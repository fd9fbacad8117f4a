import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { date, defineCollection, integer, text } from '../../../src/entries/index.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const fields = { name: text({ maxLength: 20 }), label: text(), size: integer(), day: date() }
const entries = publishCollection('app', 'entries', defineCollection({ key: 'name', fields }))
const numbered = publishCollection(
  'app',
  'numbered',
  defineCollection({
    key: 'id',
    fields: { id: integer({ generated: 'database' }), label: text(), size: integer(), day: date() },
  }),
)
const collections = { entries, numbered }
type Name = keyof typeof collections

/** What a table does with rows. */
interface Case {
  readonly what: string
  /** The statements that make it so, after the storage has opened. */
  make(table: string): readonly string[]
  readonly undo: (table: string) => readonly string[]
}

const onPostgres = (what: string, body: string, when = 'before insert', each = 'row'): Case => ({
  what,
  make: (table) => [
    `create function own() returns trigger language plpgsql as $$ begin ${body} end $$`,
    `create trigger own ${when} on ${table} for each ${each} execute function own()`,
  ],
  undo: () => ['drop function own cascade'],
})

const postgresCases: readonly Case[] = [
  onPostgres('skips a row', 'return case when new.size = 5 then null else new end;'),
  onPostgres('skips every other row', 'return case when new.size % 2 = 0 then null else new end;'),
  onPostgres('skips all rows', 'return null;'),
  onPostgres('rejects a row', `if new.size = 5 then raise 'no'; end if; return new;`),
  onPostgres('changes values', 'new.size := new.size * 2; return new;'),
  onPostgres(
    'changes a value so that it does not fit',
    `if new.size > 3 then new.day := 'infinity'; end if; return new;`,
  ),
  onPostgres('makes every row unfit', `new.day := 'infinity'; return new;`),
  onPostgres('divides by zero', 'new.size := 1 / (new.size - 5); return new;'),
  onPostgres(
    'runs after a row',
    `if new.size = 5 then raise 'no'; end if; return null;`,
    'after insert',
  ),
  onPostgres('runs after a statement', 'return null;', 'after insert', 'statement'),
  onPostgres(
    'inserts another row',
    `if new.size < 100 then insert into entries values (new.label || ' copy', 'copy', 100, null); end if; return new;`,
  ),
  {
    what: 'has a rule',
    make: (table) => [`create rule own as on insert to ${table} do also select 1`],
    undo: (table) => [`drop rule own on ${table}`],
  },
  {
    what: 'has a rule that leaves out rows',
    make: (table) => [
      `create rule own as on insert to ${table} where new.size = 5 do instead nothing`,
    ],
    undo: (table) => [`drop rule own on ${table}`],
  },
  {
    what: 'has partitions now, of which one has a trigger',
    make: (table) => [
      `alter table ${table} rename to plain`,
      `create table ${table} (like plain including all) partition by hash (${table === 'entries' ? 'name' : 'id'})`,
      `create table part partition of ${table} for values with (modulus 1, remainder 0)`,
      `create function own() returns trigger language plpgsql as $$ begin return case when new.size = 5 then null else new end; end $$`,
      'create trigger own before insert on part for each row execute function own()',
    ],
    undo: (table) => [
      `drop table ${table}`,
      'drop function own',
      `alter table plain rename to ${table}`,
    ],
  },
]

const onMariaDb = (what: string, body: string): Case => ({
  what,
  make: (table) => [
    `create trigger own before insert on ${table} for each row begin not atomic ${body} end`,
  ],
  undo: () => ['drop trigger own'],
})

const mariaDbCases: readonly Case[] = [
  onMariaDb('rejects a row', `if new.size = 5 then signal sqlstate '45000'; end if;`),
  onMariaDb('changes values', 'set new.size = new.size * 2;'),
  onMariaDb('divides by zero', 'set new.size = 1 / (new.size - 5);'),
  onMariaDb('sets no value', 'set new.size = null;'),
]

const changesKeys: Readonly<Record<string, readonly Case[]>> = {
  PostgreSQL: [
    onPostgres('changes keys', 'new.name := upper(new.name); return new;'),
    onPostgres('gives rows the same key', `new.name := 'n' || new.size / 2; return new;`),
  ],
  MariaDB: [
    onMariaDb('changes keys', 'set new.name = upper(new.name);'),
    onMariaDb('gives rows the same key', `set new.name = concat('n', new.size div 2);`),
  ],
}

/** Cases of tables that are so before the storage opens. */
const known: Readonly<Record<string, readonly Case[]>> = {
  PostgreSQL: [],
  MariaDB: [
    onMariaDb(
      'change a number so that it does not fit',
      'if new.size > 3 then set new.size = 9007199254740993; end if;',
    ),
  ],
}

describe.each(pooledServers)('inserts into a table of $name that', (pooled) => {
  if (pooled.missing !== undefined) return
  let server: PooledServer
  let storageOfPool: () => StorageAdapter

  beforeAll(async () => {
    server = await pooled.start()
    storageOfPool = server.openAgain(2)
    const storage = server.open(1, { ensureSchema: true })
    await storage.open(Object.values(collections))
    await storage.close()
  })
  beforeEach(() => server.clear())
  afterAll(() => server.drop())

  // All cases use one pool: idle connections of a pool for each would exceed those that the server accepts.
  async function opened(): Promise<StorageAdapter> {
    const storage = storageOfPool()
    await storage.open(Object.values(collections))
    onTestFinished(() => storage.close())
    return storage
  }

  const rowOf = (name: Name, label: string, size: number): Row =>
    name === 'entries'
      ? { name: `n${size}`, label, size, day: null }
      : { id: null, label, size, day: null }

  /** Inserts rows at the same time. Expects that each is stored as it is returned, or rejected and not stored. */
  async function insertAll(storage: StorageAdapter, name: Name, from: number): Promise<void> {
    const labels = Array.from({ length: 24 }, (_, index) => `label ${from + index}`)
    const results = await Promise.allSettled(
      labels.map((label, index) =>
        storage.transaction({ mode: 'write', brief: true, oneWrite: true }, (on) =>
          on.insert(collections[name], rowOf(name, label, from + index)),
        ),
      ),
    )
    const { rows: found } = await storage.filter(collections[name], {
      conditions: [],
      search: null,
      sort: collections[name].key.map(({ name: field }) => ({ field, descending: false })),
      limit: 1_000,
      offset: 0,
      select: collections[name].allNames,
      count: false,
    })
    const stored = new Map(found.map((row) => [row['label'], row]))
    const outcomes = results.map((result, index) =>
      result.status === 'fulfilled' ? result.value : { label: labels[index], stored: undefined },
    )
    expect(outcomes).toEqual(
      labels.map((label, index) =>
        results[index]?.status === 'fulfilled' || stored.has(label)
          ? stored.get(label)
          : { label, stored: undefined },
      ),
    )
  }

  const cases = pooled.name === 'PostgreSQL' ? postgresCases : mariaDbCases
  const all = (['entries', 'numbered'] as const).flatMap((name) => [
    ...cases.map((one) => ({ ...one, name })),
    ...(name === 'entries' ? (changesKeys[pooled.name] ?? []) : []).map((one) => ({
      ...one,
      name,
    })),
  ])

  test.each(all)('$what now are stored as they are returned: $name', async ({ name, ...one }) => {
    const storage = await opened()
    await insertAll(storage, name, 1_000)
    await server.run(...one.make(name))
    onTestFinished(async () => {
      await server.run(...one.undo(name))
    })
    await insertAll(storage, name, 0)
    await insertAll(storage, name, 30)
  })

  const before = (['entries', 'numbered'] as const).flatMap((name) =>
    (known[pooled.name] ?? []).map((one) => ({ ...one, name })),
  )
  test.each([...all, ...before])(
    '$what are stored as they are returned: $name',
    async ({ name, ...one }) => {
      await server.run(...one.make(name))
      onTestFinished(async () => {
        await server.run(...one.undo(name))
      })
      await insertAll(await opened(), name, 0)
    },
  )
})
