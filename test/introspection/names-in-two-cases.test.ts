import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createService, openAccess, principal } from '../../src/entries/index.ts'
import { temporaryFolder } from '../kit/storages.ts'
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

const servers = databaseKinds.filter(({ name }) => name !== 'SQLite')

describe.each(servers)('tables of $name whose names differ in case only', (kind) => {
  const { quoted } = kind
  let folder: string
  let database: EmptyDatabase
  beforeEach(async (context) => {
    ;({ folder, database } = await emptyDatabase(kind, context))
  })

  async function createTables(): Promise<Collections> {
    await database.run(
      `create table ${quoted('Orders')} (id int not null primary key, title varchar(20))`,
      `create table ${quoted('orders')} (id int not null primary key, note varchar(20) not null, size int)`,
      `create table ${quoted('lines')} (id int not null primary key, order_id int not null,
        constraint lines_order_key foreign key (order_id) references ${quoted('Orders')} (id) on delete cascade)`,
      `create index lines_order on ${quoted('lines')} (order_id)`,
      ...[1, 2].flatMap((id) => [
        `insert into ${quoted('Orders')} values (${id}, 'upper')`,
        `insert into ${quoted('orders')} values (${id}, 'lower', 1)`,
        `insert into ${quoted('lines')} values (${id}, ${id})`,
      ]),
    )
    const { collections } = await introspected(database, folder)
    return collections
  }

  function write(collections: Collections): string {
    const file = join(folder, 'shop.json')
    writeFileSync(file, JSON.stringify({ shop: { collections } }))
    return file
  }

  function named(collections: Collections, table: string) {
    const entry = Object.entries(collections).find(([name, one]) => (one.table ?? name) === table)
    return entry as NonNullable<typeof entry>
  }

  test('are compared with their own collections', async () => {
    const file = write(await createTables())
    const { code, output } = await runSchema('diff', database, file, '--json')
    expect([code, JSON.parse(output)]).toEqual([0, nothingToDo])
  })

  test.each(['Orders', 'orders'])('get the columns of their own collection: %s', async (table) => {
    const collections = await createTables()
    const [name, changed] = named(collections, table)
    const fields = { ...changed.fields, added: { type: 'integer' } as const }
    const file = write({ ...collections, [name]: { ...changed, fields } })
    expect(await runSchema('apply', database, file, ...allowEverything)).toMatchObject({ code: 0 })
    const after = (await introspected(database, folder)).collections
    expect(Object.keys(named(after, table)[1].fields)).toEqual(Object.keys(fields))
    const other = table === 'Orders' ? 'orders' : 'Orders'
    expect(named(after, other)).toEqual(named(collections, other))
  })

  test('are created as two tables', async () => {
    const collections = await createTables()
    const file = write(collections)
    const second = await kind.start(temporaryFolder())
    onTestFinished(() => second.drop())
    expect(await runSchema('apply', second, file)).toMatchObject({ code: 0 })
    const after = (await introspected(second, folder)).collections
    for (const table of ['Orders', 'orders']) {
      const [[, created], [, first]] = [named(after, table), named(collections, table)]
      expect(Object.keys(created.fields)).toEqual(Object.keys(first.fields))
    }
  })

  test.each([true, false])(
    'are referred to by their own rows only: enforced %s',
    async (isEnforced) => {
      const collections = await createTables()
      const drop = kind.name === 'PostgreSQL' ? 'drop constraint' : 'drop foreign key'
      if (!isEnforced) await database.run(`alter table ${quoted('lines')} ${drop} lines_order_key`)
      const service = createService({
        applications: { shop: { collections } },
        storage: database.storage(),
        security: openAccess(),
      })
      onTestFinished(() => service.close())
      const caller = service.as(principal('any'))
      const lines = async () => (await caller.collection('shop', 'lines').filter()).items.length
      await caller.collection('shop', named(collections, 'orders')[0]).delete(1)
      expect(await lines()).toBe(2)
      await caller.collection('shop', named(collections, 'Orders')[0]).delete(1)
      expect(await lines()).toBe(1)
    },
  )

  test('that are not in the definition are found by a name in another case if it means one table', async () => {
    await database.run(`create table ${quoted('Notes')} (id int not null primary key)`)
    const fields = { id: { type: 'integer' }, text: { type: 'text' } } as const
    const file = write({ notes: { key: 'id', fields } })
    expect(await runSchema('apply', database, file)).toMatchObject({ code: 0 })
    const { collections } = await introspected(database, folder)
    expect(Object.values(collections).map((one) => Object.keys(one.fields))).toEqual([
      ['id', 'text'],
    ])
    await database.run(`create table ${quoted('NOTES')} (id int not null primary key)`)
    const { output } = await runSchema('diff', database, file)
    expect(output).toContain(`CREATE TABLE IF NOT EXISTS ${quoted('notes')}`)
  })
})

const withLetters = databaseKinds.filter(({ name }) => name !== 'MariaDB')

describe.each(withLetters)('columns of $name whose names differ in case only', (kind) => {
  const { quoted } = kind

  test('are read and written as different columns', async (context) => {
    if (kind.missing !== undefined) context.skip(kind.missing)
    const folder = temporaryFolder()
    const database = await kind.start(folder)
    onTestFinished(() => database.drop())
    const [upper, lower] = [quoted('É'), quoted('é')]
    await database.run(
      `create table things (id int not null primary key, ${lower} varchar(9) unique,
        ${upper} int not null default 7 unique)`,
      `insert into things (id, ${lower}) values (1, 'a')`,
    )
    const { collections } = await introspected(database, folder)
    const file = join(folder, 'shop.json')
    writeFileSync(file, JSON.stringify({ shop: { collections } }))
    expect(await runSchema('diff', database, file)).toMatchObject({ code: 0 })
    const service = createService({
      applications: { shop: { collections } },
      storage: database.storage(),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const things = service.as(principal('any')).collection('shop', 'things')
    expect((await things.filter()).items).toEqual([{ id: 1, é: 'a' }])
    const taken = await things.insert({ id: 2, é: 'a' })
    expect(taken).toMatchObject({ rejected: true, validations: [{ field: 'é' }] })
    // The values of the other column are equal.
    const other = await things.insert({ id: 2, é: 'b' })
    expect(other).toMatchObject({ rejected: true })
    expect(JSON.stringify(other)).not.toContain('"field":"é"')
    expect(await things.update(1, { é: 'c' })).toMatchObject({ rejected: false })
  })
})
