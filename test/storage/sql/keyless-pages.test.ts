import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineCollection, integer, json, text } from '../../../src/entries/index.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import type { Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const fields = { topic: text(), level: integer(), detail: json({ readOnly: true }) }
const onlyJson = { detail: json({ readOnly: true }) }
const publish = (table: string, own: typeof fields | typeof onlyJson = fields) =>
  publishCollection('app', table, defineCollection({ table, fields: own, publishes: ['Filter'] }))

/** The statements that create a table or view of a name, with rows that differ in `detail` only. */
const makes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  PostgreSQL: {
    plain: ['create table plain (topic text, level bigint, detail json)'],
    binary: ['create table binary_ (topic text, level bigint, detail jsonb)'],
    parts: [
      'create table parts (topic text, level bigint, detail json, part int generated always as identity) partition by range (part)',
      'create table low partition of parts for values from (minvalue) to (50)',
      'create table high partition of parts for values from (50) to (maxvalue)',
    ],
    heirs: [
      'create table heirs (topic text, level bigint, detail json)',
      'create table heir () inherits (heirs)',
    ],
    looked: [
      'create table behind (topic text, level bigint, detail json)',
      'create view looked as select * from behind union all select * from behind where level < 0',
    ],
    kept: [
      'create table below (topic text, level bigint, detail json)',
      'create materialized view kept as select * from below',
    ],
  },
  MariaDB: {
    plain: [
      'create table plain (topic varchar(20) collate utf8mb4_nopad_bin, level bigint, detail longtext collate utf8mb4_nopad_bin)',
    ],
    numbered: [
      'create table numbered (topic varchar(20) collate utf8mb4_nopad_bin, level bigint, detail longtext collate utf8mb4_nopad_bin, own int auto_increment primary key)',
    ],
    looked: [
      'create table behind (topic varchar(20) collate utf8mb4_nopad_bin, level bigint, detail longtext collate utf8mb4_nopad_bin)',
      'create view looked as select * from behind union all select * from behind where level < 0',
    ],
  },
}

const into: Readonly<Record<string, readonly string[]>> = {
  binary: ['binary_'],
  heirs: ['heirs', 'heir'],
  looked: ['behind'],
  kept: ['below'],
}

describe.each(pooledServers)('pages of a collection without key on $name', (pooled) => {
  if (pooled.missing !== undefined) return
  let server: PooledServer
  let storage: StorageAdapter
  const own = makes[pooled.name] ?? {}
  const collections = Object.fromEntries(
    Object.keys(own).flatMap((name) => {
      const table = name === 'binary' ? 'binary_' : name
      return [
        [name, publish(table)],
        [`${name} json`, publish(table, onlyJson)],
      ]
    }),
  )

  beforeAll(async () => {
    server = await pooled.start()
    for (const [name, statements] of Object.entries(own)) {
      await server.run(...statements)
      const tables = into[name] ?? [name]
      const rows = Array.from({ length: 120 }, (_, index) => {
        const long = index < 6 ? 'x'.repeat(70_000) : ''
        return `('a', ${index % 2}, '{"at":"${long}${index % 100}"}')`
      })
      for (const [index, table] of tables.entries()) {
        const share = rows.filter((_, at) => at % tables.length === index)
        await server.run(`insert into ${table} (topic, level, detail) values ${share.join()}`)
      }
    }
    if (pooled.name === 'PostgreSQL') await server.run('refresh materialized view kept')
    storage = server.open(2, {})
    await storage.open(Object.values(collections))
  })
  afterAll(async () => {
    await storage.close()
    await server.drop()
  })

  const orders = [[], [{ field: 'level', descending: true }]]

  test.each(Object.keys(collections))('have every row once: %s', async (name) => {
    const collection = collections[name] as (typeof collections)[string]
    const sortable = collection.tieBreakers.map((field) => field.name)
    const read = async (query: object): Promise<readonly Row[]> => {
      const all = { conditions: [], search: null, select: collection.allNames, count: false }
      const { rows } = await storage.filter(collection, { ...all, offset: 0, ...query } as never)
      return rows
    }
    for (const order of orders) {
      const given = order.filter(({ field }) => sortable.includes(field))
      const ties = sortable
        .filter((field) => given.every((one) => one.field !== field))
        .map((field) => ({ field, descending: false }))
      const sort = [...given, ...ties]
      const all = await read({ sort, limit: 1_000 })
      expect(all).toHaveLength(120)
      for (const [limit, count] of [
        [1, false],
        [7, true],
        [50, false],
      ] as const) {
        const seen: Row[] = []
        for (let offset = 0; offset < 120; offset += limit)
          seen.push(...(await read({ sort, limit, offset, count })))
        const texts = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).toSorted()
        expect(texts(seen)).toEqual(texts(all))
      }
    }
  })
})
