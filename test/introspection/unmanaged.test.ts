import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { SchemaDiff } from '../../src/schema/changes.ts'
import {
  allowEverything,
  databaseKinds,
  emptyDatabase,
  introspected,
  nothingToDo,
  runSchema,
  type Collections,
  type EmptyDatabase,
} from './empty-databases.ts'

const bytes = { SQLite: 'blob', PostgreSQL: 'bytea', MariaDB: 'longblob' }

describe.each(databaseKinds)('what a definition of $name cannot express', (kind) => {
  const { name, quoted } = kind
  let folder: string
  let database: EmptyDatabase
  beforeEach(async (context) => {
    ;({ folder, database } = await emptyDatabase(kind, context))
  })

  /** A circle of cascades, a reference to a unique column, bytes, and columns that differ in case where they can. */
  async function createTables(): Promise<Collections> {
    const effect = name === 'MariaDB' ? '' : 'on delete set default'
    const twin = name === 'MariaDB' ? '' : `${quoted('É')} int not null default 1, `
    const circle = 'constraint to_b foreign key (b) references b (id) on delete cascade'
    await database.run(
      `create table a (id int not null primary key, b int${name === 'SQLite' ? `, ${circle}` : ''})`,
      `create table b (id int not null primary key, a int, code varchar(5) not null unique, raw ${bytes[name]},
        ${quoted('é')} int, ${twin}
        constraint to_a foreign key (a) references a (id) on delete cascade)`,
      ...(name === 'SQLite' ? [] : [`alter table a add ${circle}`]),
      `create table parts (id int not null primary key, code varchar(5) not null, a int default 1,
        constraint by_code foreign key (code) references b (code) on delete cascade,
        constraint by_default foreign key (a) references a (id) ${effect})`,
      `insert into a values (1, null)`,
      `insert into b (id, code, ${quoted('é')}) values (1, 'x', 2)`,
      `insert into parts values (1, 'x', 1)`,
    )
    const { collections } = await introspected(database, folder)
    return collections
  }

  function write(collections: Collections): string {
    const file = join(folder, 'shop.json')
    writeFileSync(file, JSON.stringify({ shop: { collections } }))
    return file
  }

  async function diff(file: string): Promise<SchemaDiff> {
    const { output } = await runSchema('diff', database, file, '--json')
    return JSON.parse(output) as SchemaDiff
  }

  test('is remembered, and stays as it is', async () => {
    const collections = await createTables()
    const { a, b, parts } = collections
    expect(b?.unmanaged?.columns).toEqual(name === 'MariaDB' ? ['raw'] : ['raw', 'É'])
    expect([...(a?.unmanaged?.foreignKeys ?? []), ...(b?.unmanaged?.foreignKeys ?? [])]).toEqual([
      [expect.stringMatching(/^[ab]$/)],
    ])
    expect(parts?.unmanaged?.foreignKeys?.toSorted()).toEqual(
      name === 'MariaDB' ? [['code']] : [['a'], ['code']],
    )
    const file = write(collections)
    expect(await diff(file)).toEqual(nothingToDo)
    const { code, output } = await runSchema('apply', database, file, ...allowEverything)
    expect([code, output]).toEqual([0, expect.stringContaining('Made 0 changes')])
    expect((await introspected(database, folder)).collections).toEqual(collections)
  })

  test('is the only thing that stays: other columns are dropped', async () => {
    const { b, ...others } = await createTables()
    const { é, ...fields } = b?.fields ?? {}
    expect(é).toBeDefined()
    const file = write({ ...others, b: { ...b, fields } })
    const { changes, left } = await diff(file)
    expect([...changes, ...left]).toMatchObject([
      { kind: 'drop', description: expect.stringContaining(quoted('é')) as string },
    ])
    expect(await runSchema('apply', database, file, '--allow', 'drop')).toMatchObject({ code: 0 })
    expect(await diff(file)).toEqual(nothingToDo)
  })

  test('is changed if the definition does not leave it to the database', async () => {
    const collections = await createTables()
    const managed = Object.entries(collections).map(
      ([own, { unmanaged: _unmanaged, ...rest }]) => [own, rest] as const,
    )
    const { changes, left } = await diff(write(Object.fromEntries(managed)))
    const text = [...changes, ...left].map(({ description }) => description).join('\n')
    expect(text).toContain('Drops the column')
    if (name !== 'SQLite') expect(text).toMatch(/Redeclares the foreign key|Drops the foreign key/)
  })
})
