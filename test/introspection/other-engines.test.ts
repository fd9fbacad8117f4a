import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { perServer } from '../kit/mysql.ts'
import { databases, openDatabase } from './empty-databases.ts'
import { publishAs } from './published-database.ts'

const kind = databases.MariaDB
const engines = perServer({
  MariaDB: ['MyISAM', 'MEMORY', 'Aria'],
  MySQL: ['MyISAM', 'MEMORY'],
})

describe.skipIf(kind.missing !== undefined)('tables of engines without transactions', () => {
  test.each(engines)('a table of %s is read-only, with the reason', async (engine) => {
    const on = await openDatabase(kind)
    await on.run(
      `create table notes (id int primary key auto_increment, title varchar(20) not null, status varchar(10) default 'open', key (status)) engine=${engine}`,
      `insert into notes (title) values ('a'), ('b'), ('c')`,
      'create view titles as select title from notes',
      'create table others (id int primary key, title varchar(20))',
      'create view both_titles as select title from notes union all select title from others',
    )
    const { messages, collections, client, service, reports } = await publishAs(on)
    expect(messages).toContain(
      `notes: read-only: it is kept by the engine ${engine}, which has no transactions`,
    )
    expect(Object.keys(collections).sort()).toEqual(['both-titles', 'notes', 'others', 'titles'])
    expect(collections['notes']).toMatchObject({ key: 'id', publishes: ['Filter'] })
    expect(collections['others']?.publishes).toBeUndefined()
    const page = await client.get('/app/notes', {
      query: { $sort: '-title', $count: 'true', $limit: 2, status: 'open' },
    })
    expect(page).toMatchObject({
      status: 200,
      body: {
        items: [
          { id: 3, title: 'c' },
          { id: 2, title: 'b' },
        ],
        count: 3,
      },
    })
    expect(await client.get('/app/notes', { query: { $q: 'B' } })).toMatchObject({
      body: { items: [{ id: 2 }] },
    })
    expect(await client.get('/app/notes/2')).toMatchObject({ body: { item: { title: 'b' } } })
    expect(await client.get('/app/titles')).toMatchObject({ status: 200 })
    expect(await client.get('/app/both-titles')).toMatchObject({ status: 200 })
    expect(await client.post('/app/notes', { title: 'd' })).toMatchObject({ status: 405 })
    expect(await client.post('/app/others', { id: 1, title: 'd' })).toMatchObject({ status: 200 })
    expect(reports).toEqual([])
    const own = service.as(system).collection('app', 'notes')
    const failure = 'which has no transactions'
    await expect(own.insert({ title: 'd' })).rejects.toThrow(failure)
    await expect(own.update(1, { title: 'd' })).rejects.toThrow(failure)
    await expect(own.delete(1)).rejects.toThrow(failure)
    expect(await on.run('select title from notes order by id')).toEqual(
      ['a', 'b', 'c'].map((title) => ({ title })),
    )
  })

  test.each(engines)(
    'a collection that writes a table of %s is rejected at start',
    async (engine) => {
      const on = await openDatabase(kind)
      await on.run(`create table notes (id int primary key, title varchar(20)) engine=${engine}`)
      const notes = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
      const service = createService({
        applications: { app: { collections: { notes } } },
        storage: on.storage(),
        security: openAccess(),
      })
      await expect(service.ready()).rejects.toThrow(
        `the table \`notes\` is kept by the engine ${engine}, which has no transactions. Set publishes: ['Filter'], or change the table with\nALTER TABLE \`notes\` ENGINE=InnoDB;`,
      )
      await service.close()
    },
  )

  test('a damaged table is left out', async () => {
    const on = await openDatabase(kind)
    await on.run(
      'create table pieces (id int not null, key (id)) engine=MyISAM',
      'create table parts (id int not null, key (id)) engine=MERGE union=(pieces)',
      'create view part_ids as select id from parts',
      'create table others (id int primary key)',
      'drop table pieces',
    )
    const { messages, collections } = await publishAs(on)
    expect(messages).toContain("parts: left out: the server can't read it")
    expect(messages).toContain("part_ids: left out: the server can't read it")
    expect(Object.keys(collections)).toEqual(['others'])
  })
})
