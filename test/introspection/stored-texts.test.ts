import { createService, openAccess } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  databaseKinds,
  emptyDatabase,
  introspected,
  type EmptyDatabase,
} from './empty-databases.ts'

// A type of strings that ignores case, and what creates it.
const loose = {
  SQLite: { type: 'text collate nocase', create: [] },
  PostgreSQL: {
    type: 'text collate loose',
    create: [
      `create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    ],
  },
  MariaDB: { type: 'varchar(20) collate utf8mb4_general_ci', create: [] },
}

/** Publishes a database as introspection describes it. */
async function publish(database: EmptyDatabase, folder: string) {
  const { collections, messages } = await introspected(database, folder)
  const service = createService({
    applications: { shop: { collections } },
    storage: database.storage(),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const handle = toFetchHandler(service)
  const ask = async (target: string, body?: object): Promise<object> => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await handle(new Request(`http://localhost/rest/v1/shop/${target}`, sent))
    return { status: response.status, ...((await response.json()) as object) }
  }
  return { messages, ask, collections }
}

describe.each(databaseKinds)('texts of $name', (kind) => {
  const { type, create } = loose[kind.name]
  test('of an enumeration that ignores case keep their spelling when an item is sent back', async (context) => {
    const { folder, database } = await emptyDatabase(kind, context)
    await database.run(
      ...create,
      `create table orders (id integer not null primary key, status ${type} check (status in ('Open', 'it''s')), size integer)`,
      `insert into orders values (1, 'Open', 1), (2, 'OPEN', 2), (3, 'IT''S', 3), (4, null, 4)`,
    )
    const { ask, collections } = await publish(database, folder)
    expect(collections['orders']?.fields['status']).toMatchObject({
      enumeration: ['Open', "it's", "IT'S", 'OPEN'],
    })
    for (const id of [1, 2, 3, 4]) {
      const { item } = (await ask(`orders/${id}`)) as { readonly item: object }
      const { id: _, ...values } = item as { readonly id: number }
      expect(await ask(`orders/${id}`, { ...values, size: 9 })).toMatchObject({
        ...{ status: 200, validations: [], item: { ...item, size: 9 } },
      })
    }
    expect(await ask('orders/1', { status: 'shipped' })).toMatchObject({
      validations: [{ field: 'status' }],
    })
  })

  test('that no path can have are counted in the notes of their keys', async (context) => {
    const key = 'varchar(20) not null'
    const { folder, database } = await emptyDatabase(kind, context)
    await database.run(
      ...create,
      `create table words (word ${key} primary key)`,
      `insert into words values (''), ('.'), ('..'), ('...'), ('a,b'), ('x')`,
      `create table places (town ${key}, street ${key}, size integer not null, primary key (town, street, size))`,
      `insert into places values ('a', 'b', 1), ('a,b', 'c', 1), ('', 'b', 1), ('a', '.', 1)`,
      `create table names (name ${key} primary key)`,
      `insert into names values ('a')`,
    )
    const { messages } = await publish(database, folder)
    expect(messages).toContain('words: 3 rows have keys that no path can have')
    expect(messages).toContain('places: 2 rows have keys that no path can have')
    expect(messages).not.toContain('names: ')
  })
})

describe.each(databaseKinds.filter(({ name }) => name === 'MariaDB'))('texts of $name', (kind) => {
  const { type, create } = loose[kind.name]
  test('of an enumeration that ignores spaces at the end keep them when an item is sent back', async (context) => {
    const { folder, database } = await emptyDatabase(kind, context)
    await database.run(
      ...create,
      `create table orders (id integer not null primary key, status ${type} check (status in ('open', 'done')), size integer)`,
      `insert into orders values (1, 'open', 1), (2, 'open ', 2)`,
    )
    const { ask, collections } = await publish(database, folder)
    expect(collections['orders']?.fields['status']).toMatchObject({
      enumeration: ['open', 'done', 'open '],
    })
    expect(await ask('orders/2', { status: 'open ', size: 9 })).toMatchObject({
      ...{ status: 200, validations: [], item: { status: 'open ', size: 9 } },
    })
  })
})
