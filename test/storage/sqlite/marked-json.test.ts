import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  decimal,
  defineCollection,
  integer,
  json,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

/** Expressions whose results SQLite marks as JSON, of the column d with the value `{"a":[1,{"b":"x"}],"n":1.50}`. */
const marked = {
  extract: "json_extract(d, '$.a')",
  whole: "json_extract(d, '$')",
  several: "json_extract(d, '$.a', '$.n')",
  arrow: "d -> '$.a'",
  scalar: "d -> '$.a[1].b'",
  number: "d -> '$.n'",
  object: "json_object('a', d)",
  array: 'json_array(id, d)',
  parsed: 'json(d)',
  quoted: "json_quote('x')",
  inserted: "json_insert(d, '$.c', 1)",
  replaced: "json_replace(d, '$.a', 1)",
  assigned: "json_set(d, '$.a', 1)",
  removed: "json_remove(d, '$.a')",
  patched: 'json_patch(d, \'{"a":null}\')',
  larger: "max(json('[1]'), json('[2]'))",
  chosen: "coalesce(nullif(json_extract(d, '$.a'), ''), 'none')",
  decided: "CASE WHEN id > 0 THEN d -> '$.a' END",
  converted: "CAST(d -> '$.a' AS TEXT)",
  collated: "(d -> '$.a') COLLATE NOCASE",
} as const
const names = Object.keys(marked) as (keyof typeof marked)[]
const value = '{"a":[1,{"b":"x"}],"n":1.50}'

const shown = Object.fromEntries(names.map((name) => [name, text({ readOnly: true })]))
const computed = Object.fromEntries(
  names.map((name) => [name, text({ readOnly: true, default: 'database' })]),
)
const collections = {
  documents: defineCollection({ key: 'id', fields: { id: integer(), d: json(), ...computed } }),
  stored: defineCollection({ key: 'id', fields: { id: integer(), d: json(), ...computed } }),
  bare: defineCollection({ key: 'id', fields: { id: integer(), d: json(), ...computed } }),
  shown: defineCollection({
    key: 'id',
    publishes: ['Filter'],
    fields: { id: integer(), ...shown },
  }),
  prices: defineCollection({
    key: 'price',
    fields: {
      price: decimal({ precision: 9, scale: 2, readOnly: true, default: 'database' }),
      given: text(),
    },
  }),
  tags: defineCollection({
    key: ['tag', 'id'],
    fields: { tag: text({ readOnly: true, default: 'database' }), id: integer() },
  }),
}

const columns = (type: string, storage: string): string =>
  names.map((name) => `${name} ${type} AS (${marked[name]}) ${storage}`).join(', ')

describe.each(drivers)('with %s', (driver) => {
  function open() {
    const handle = openHandle(driver, ':memory:')
    handle.exec(`
      CREATE TABLE documents (id INTEGER PRIMARY KEY, d TEXT, ${columns('TEXT', 'VIRTUAL')});
      CREATE TABLE stored (id INTEGER PRIMARY KEY, d TEXT, ${columns('TEXT', 'STORED')});
      CREATE TABLE bare (id INTEGER PRIMARY KEY, d TEXT, ${columns('', 'VIRTUAL')});
      CREATE VIEW shown AS SELECT id, ${names.map((name) => `${marked[name]} AS ${name}`).join(', ')} FROM documents;
      CREATE TABLE prices (given TEXT, price TEXT NOT NULL AS (json(given)) VIRTUAL);
      CREATE UNIQUE INDEX price ON prices (price);
      CREATE TABLE tags (id INTEGER NOT NULL, tag TEXT NOT NULL AS (json_array()) VIRTUAL);
      CREATE UNIQUE INDEX tag ON tags (tag, id);
      INSERT INTO documents (id, d) VALUES (1, '${value}');
      INSERT INTO stored (id, d) VALUES (1, '${value}');
      INSERT INTO bare (id, d) VALUES (1, '${value}');
      INSERT INTO prices VALUES ('12.50');
      INSERT INTO tags VALUES (1);`)
    const service = createService({
      applications: { a: { collections } },
      storage: sqliteStorage(handle),
      security: openAccess(),
    })
    onTestFinished(async () => {
      await service.close()
      handle.close()
    })
    return {
      service,
      async send(method: string, path: string, values?: unknown) {
        const reply = await service.handle({
          method,
          target: `/rest/v1/a/${path}`,
          header: (name) => ({ 'content-type': 'application/json' })[name],
          secure: true,
          peer: undefined,
          signal: undefined,
          body: async () => new TextEncoder().encode(JSON.stringify(values)),
        })
        return JSON.parse(reply.body) as { items: Item[]; item: Item; status: number }
      },
    }
  }
  type Item = Record<string, unknown>

  test.each(['documents', 'stored', 'bare', 'shown'] as const)(
    'a computed string of %s is a string in every response',
    async (name) => {
      const { send } = open()
      const { items } = await send('GET', name)
      expect(items).toHaveLength(1)
      for (const column of names) expect(items[0]?.[column], column).toBeTypeOf('string')
      expect(items[0]).toMatchObject({ extract: '[1,{"b":"x"}]', scalar: '"x"', number: '1.50' })
      expect((await send('GET', `${name}/1`)).item).toEqual(items[0])
    },
  )

  test.each(['documents', 'stored', 'bare'] as const)(
    'an insert and an update of %s respond as a read does',
    async (name) => {
      const { send } = open()
      const inserted = await send('POST', name, { id: 2, d: JSON.parse(value) as unknown })
      expect(inserted.status).toBe(200)
      expect(inserted.item).toEqual((await send('GET', `${name}/2`)).item)
      const updated = await send('POST', `${name}/2`, { d: { a: [2], n: 3 } })
      expect(updated).toMatchObject({ status: 200, item: { extract: '[2]', number: '3' } })
      expect((await send('GET', `${name}/2`)).item).toEqual(updated.item)
    },
  )

  test('a computed decimal keeps its digits', async () => {
    const { send } = open()
    expect((await send('GET', 'prices')).items).toEqual([{ price: '12.50', given: '12.50' }])
    expect((await send('GET', 'prices/12.50')).item).toEqual({ price: '12.50', given: '12.50' })
  })

  test('a check finds nothing wrong with a key that is computed as JSON', async () => {
    const { service, send } = open()
    expect((await send('GET', 'tags')).items).toEqual([{ tag: '[]', id: 1 }])
    expect(await service.inspect()).toEqual([])
  })
})
