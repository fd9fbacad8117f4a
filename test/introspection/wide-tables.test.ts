import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, test } from 'vitest'
import { databaseKinds, emptyDatabase } from './empty-databases.ts'
import { publish } from './published-database.ts'

interface Answer {
  readonly status: number
  readonly item?: Readonly<Record<string, unknown>>
  readonly items?: readonly (Readonly<Record<string, unknown>> | undefined)[]
  readonly validations: readonly unknown[]
}

// SQLite has 2,000 columns at most.
const sizes = {
  SQLite: { columns: 1_998, type: 'text' },
  PostgreSQL: { columns: 1_600, type: 'date' },
  MariaDB: { columns: 1_017, type: 'int' },
} as const

describe.each(databaseKinds)('a table of $name', (kind) => {
  const { columns, type } = sizes[kind.name]
  test(`with ${columns} columns is published, saved and checked`, async (context) => {
    const one = { text: '1', date: '2024-01-01', int: 1 }[type]
    const own = Array.from({ length: columns - 1 }, (_, at) => `c${at + 1}`)
    const { folder, database } = await emptyDatabase(kind, context)
    await database.run(
      `create table wide (id integer not null primary key, ${own.map((name) => `${name} ${type}`).join()})`,
      `insert into wide (id, c1, c2) values (1, '${one}', '${one}')`,
    )
    const published = await publish(database, 'shop', folder)
    const { service, reports: failures } = published
    await published.expectNothingToDo()
    const handle = toFetchHandler(service)
    const ask = async (target: string, body?: object): Promise<object> => {
      const url = `http://localhost/rest/v1/shop/wide${target}`
      const headers = { 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await handle(new Request(url, sent))
      return { status: response.status, ...((await response.json()) as object) }
    }
    const last = own.at(-1) as string
    const page = (await ask('?$count=true')) as { readonly items: readonly object[] }
    expect(failures).toEqual([])
    expect(page).toMatchObject({ status: 200, count: 1, items: [{ id: 1, c1: one }] })
    expect(Object.keys(page.items[0] as object)).toHaveLength(columns)
    const briefly = async (target: string, body?: object): Promise<object> => {
      const { status, item, items = [item], validations } = (await ask(target, body)) as Answer
      const ones = items.map((each) => [
        each?.['id'],
        Object.values(each ?? {}).filter((value) => value === one).length,
      ])
      return { status, ones, validations }
    }
    const all = Object.fromEntries(own.map((name) => [name, one]))
    const [none, full] = [[], columns - 1]
    expect(await briefly('', { id: 2, c1: one, [last]: one })).toEqual({
      ...{ status: 200, ones: [[2, 2]], validations: none },
    })
    expect(await briefly('', { id: 3, ...all })).toEqual({
      ...{ status: 200, ones: [[3, full]], validations: none },
    })
    expect(await briefly('/2', all)).toEqual({
      ...{ status: 200, ones: [[2, full]], validations: none },
    })
    expect(await briefly(`?${last}=${one}&$sort=${own.slice(0, 3).join()},id`)).toEqual({
      ...{ status: 200, validations: none },
      ones: [
        [2, full],
        [3, full],
      ],
    })
    expect({ answer: await ask('?$q=1'), failures }).toMatchObject({
      answer: { status: 200 },
      failures: [],
    })
    expect(await ask('/1')).toMatchObject({ status: 200 })
    if (type === 'text') {
      // The lengths of such values are read with them.
      const odd = { c1: '\ufffd', [last]: 'a\ufffd' }
      expect(await ask('/1', odd)).toMatchObject({ status: 200, item: odd })
      expect(await ask('?$sort=id&$limit=1')).toMatchObject({ status: 200, items: [odd] })
      // The number is generated, and read after the insert.
      expect(await ask('', odd)).toMatchObject({ status: 200, item: { id: 4, ...odd } })
      expect(failures).toEqual([])
    }
    expect(await published.send('DELETE', 'wide/3')).toMatchObject({ status: 200 })
    expect(await service.inspect()).toEqual([])
    expect(failures).toEqual([])
  }, 60_000)
})
