import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createService, openAccess, principal } from '../../src/entries/index.ts'
import { runAlone } from '../cli/command-line.ts'
import {
  databaseKinds,
  emptyDatabase,
  introspected,
  type EmptyDatabase,
} from './empty-databases.ts'

const servers = databaseKinds.filter(({ name }) => name !== 'SQLite')

describe.each(servers)('the definition of a database of $name', (kind) => {
  let folder: string
  let database: EmptyDatabase
  beforeEach(async (context) => {
    ;({ folder, database } = await emptyDatabase(kind, context))
  })

  test('has the values of a list without the spaces that pad them', async () => {
    await database.run(
      `create table shirts (id int not null primary key,
        size char(3) not null check (size in ('S', 'M  ', 'S  ', 'XL ', '')), tone varchar(3) check (tone in ('a ', 'b')))`,
      `insert into shirts values (1, 'M', 'a ')`,
    )
    const { collections } = await introspected(database, folder)
    const { size, tone } = collections['shirts']?.fields ?? {}
    expect([size, tone].map((field) => field?.enumeration)).toEqual([
      ['S', 'M', 'XL', ''],
      ['a ', 'b'],
    ])
    const service = createService({
      applications: { shop: { collections } },
      storage: database.storage(),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const shirts = service.as(principal('any')).collection('shop', 'shirts')
    expect((await shirts.filter({ size: 'M', tone: 'a ' })).items).toHaveLength(1)
    expect(await shirts.insert({ id: 2, size: 'XL', tone: 'b' })).toMatchObject({ rejected: false })
    expect(await shirts.insert({ id: 3, size: 'L' })).toMatchObject({ rejected: true })
  })

  test('leaves out a table whose own definition would be a mistake', async () => {
    await database.run(
      'create table sqlite_things (id int not null primary key)',
      'create table other (id int not null primary key, thing int references sqlite_things (id))',
    )
    const [place, ...options] = database.line
    const line = ['introspect', place, ...options, '--application', 'shop', '--out', 'shop.json']
    const { code, messages } = await runAlone(line, { workingFolder: folder })
    expect(code).toBe(0)
    expect(messages).toContain(
      "sqlite_things: left out: its definition can't be loaded: table: tables that begin with sqlite_",
    )
    expect(messages).toContain('other.thing: reference left out: refers to sqlite_things')
    const { shop } = JSON.parse(readFileSync(join(folder, 'shop.json'), 'utf8')) as {
      readonly shop: { readonly collections: object }
    }
    expect(Object.keys(shop.collections)).toEqual(['other'])
  })
})
