import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  boolean,
  computed,
  createService,
  date,
  decimal,
  defineCollection,
  error,
  integer,
  json,
  openAccess,
  system,
  text,
  type ApplicationDefinitions,
  type CollectionDefinition,
  type Observation,
  type Service,
} from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { missingServer as missingMariaDb, perServer, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { send, type RequestHeaders, type Response } from '../kit/service.ts'
import { visitors } from '../kit/visitors.ts'

/** A database whose tables another program writes. */
interface Foreign {
  readonly storage: () => StorageAdapter
  run(...statements: readonly string[]): Promise<unknown>
  close(): Promise<void>
}

interface Server {
  readonly name: string
  readonly isMissing: boolean
  open(): Promise<Foreign>
  /** The type of the json column. */
  readonly json: string
  /** Returns a literal of SQL. */
  quoted(text: string): string
  /** Other values that do not fit their fields, by field. */
  readonly others: Readonly<Record<string, string>>
  /** The types of the columns of the other values. */
  readonly columns: Readonly<Record<string, string>>
}

const plain = (text: string): string => `'${text.replaceAll("'", "''")}'`

const servers: readonly Server[] = [
  ...drivers.map((driver): Server => ({
    name: driver,
    isMissing: false,
    open: async () => {
      const handle = openHandle(driver, ':memory:')
      return {
        storage: () => sqliteStorage(handle),
        run: async (...statements) => {
          for (const statement of statements) handle.exec(statement)
        },
        close: async () => void handle.close(),
      }
    },
    json: 'text',
    quoted: plain,
    columns: { count: 'integer', price: 'text', flag: 'integer', day: 'text' },
    others: { count: `'many'`, price: `'1.5'`, flag: '2', day: `'29.2.2024'` },
  })),
  {
    name: 'PostgreSQL',
    isMissing: (await missingPostgres()) !== undefined,
    open: async () => {
      const schema = await testSchema()
      return {
        storage: () => postgresStorage(schema.open(4)),
        run: (...statements) => schema.run(statements.join(';')),
        close: () => schema.drop(),
      }
    },
    json: 'json',
    quoted: plain,
    columns: { count: 'int8', price: 'numeric(12, 2)', flag: 'boolean', day: 'date' },
    others: { count: '9007199254740993', price: `'NaN'`, day: `'infinity'` },
  },
  {
    name: 'MariaDB',
    isMissing: (await missingMariaDb()) !== undefined,
    open: async () => {
      const database = await testDatabase()
      return {
        storage: () => mysqlStorage(database.open({ connectionLimit: 4 })),
        run: (...statements) => database.run(...statements),
        close: () => database.drop(),
      }
    },
    json: perServer({
      MariaDB: 'longtext character set utf8mb4 collate utf8mb4_nopad_bin',
      MySQL: 'longtext character set utf8mb4 collate utf8mb4_0900_bin',
    }),
    quoted: (text) => plain(text.replaceAll('\\', '\\\\')),
    columns: { count: 'bigint', price: 'decimal(12, 2)', flag: 'tinyint(1)', day: 'date' },
    others: { count: '9007199254740993', price: '12345678.00', flag: '2' },
  },
]

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** JSON that every database finds valid and no request could contain. */
const unfitJson = [
  '"\\ud800"',
  '{"a":["\\uDC00x"]}',
  '"\\u0000"',
  '{"\\u0000":1}',
  '[1e400]',
  '{"a":-1E+0999}',
  `[${'9'.repeat(400)}]`,
  nested(33),
]
const fitJson = [
  '"\\ud83d\\ude00 \\u00e9"',
  '{"10":1.10,"2":12345678901234567890.5}',
  '{"a":1,"a":2}',
  '"\\\\u0000 \\\\ud800 1e400"',
  '[1e308]',
  nested(32),
  `[${'[],'.repeat(100)}1]`,
]

const fields = {
  id: integer(),
  note: text(),
  count: integer(),
  price: decimal({ precision: 8, scale: 2 }),
  flag: boolean(),
  day: date(),
  data: json(),
}
const shape = { key: 'id', table: 'notes', sharesTable: true, fields } as const

/** The same table: without code, with code that sees the item, and with rights on fields. */
const collections: Readonly<Record<string, CollectionDefinition>> = {
  notes: defineCollection({ ...shape }),
  seen: defineCollection(
    { ...shape },
    {
      validations: [
        error('kept', {
          events: ['Delete'],
          check: ({ note }) => (note === 'kept' ? 'It is kept.' : undefined),
        }),
        error('null', {
          events: ['Update'],
          check: (item, { stored }) =>
            item.note === 'check' ? JSON.stringify([item.data, stored?.data]) : undefined,
        }),
      ],
      events: { Update: { before: () => undefined, after: () => undefined } },
      computed: {
        size: computed(integer({ required: true }), ['data'], ({ data }) => {
          if (data === null) throw new Error('never null')
          return JSON.stringify(data).length
        }),
        label: computed(text(), ['note'], ({ note }) => note),
      },
    },
  ),
  guarded: defineCollection({
    ...shape,
    fields: { ...fields, data: json({ readableBy: ['Auditor'], writableBy: ['Auditor'] }) },
  }),
}

const information = (field: string) => ({
  message: `${field} has a stored value that does not fit the field. It is shown as null.`,
  severity: 'information',
  field,
})

describe.each(servers.filter(({ isMissing }) => !isMissing))(
  'a stored value that does not fit, in $name',
  (server) => {
    let foreign: Foreign
    let service: Service<ApplicationDefinitions>
    const reports: Observation[] = []
    let id = 0

    beforeAll(async () => {
      foreign = await server.open()
      const columns = Object.entries(server.columns).map(([name, type]) => `${name} ${type}`)
      await foreign.run(
        `create table notes (id integer primary key, note text, ${columns.join(', ')}, data ${server.json})`.replace(
          'note text',
          server.name === 'MariaDB' ? `note ${server.json}` : 'note text',
        ),
      )
      service = createService({
        applications: { app: { collections } },
        storage: foreign.storage(),
        security: [visitors, openAccess()],
        report: (report) => void reports.push(report),
      })
      await service.ready()
    }, 60_000)
    afterAll(async () => {
      await service.close()
      await foreign.close()
    })

    const get = (path: string, headers?: RequestHeaders): Promise<Response> =>
      send(service, { method: 'GET', path, ...(headers && { headers }) })
    const post = (path: string, body: object, headers?: RequestHeaders): Promise<Response> =>
      send(service, { method: 'POST', path, body, ...(headers && { headers }) })
    const remove = (path: string): Promise<Response> => send(service, { method: 'DELETE', path })

    /** Adds a row, and returns its key. */
    async function add(values: Readonly<Record<string, string>>): Promise<number> {
      const row = { id: String(++id), ...values }
      await foreign.run(
        `insert into notes (${Object.keys(row).join()}) values (${Object.values(row).join()})`,
      )
      return id
    }

    function expectReport(collection: string, key: number, field: string): void {
      expect(reports.splice(0)).toMatchObject([
        {
          type: 'stored-value-unfit',
          error: {
            message: expect.stringMatching(
              `^app/${collection}, item ${key}: .*${field} must be `,
            ) as unknown,
          },
        },
      ])
    }

    const misfits = (): readonly (readonly [string, string])[] => [
      ...unfitJson.map((value) => ['data', server.quoted(value)] as const),
      ...Object.entries(server.others),
    ]

    test('is never sent, and reported with its collection, key and field', async () => {
      for (const [field, value] of misfits()) {
        const key = await add({ [field]: value })
        for (const path of [
          `/${key}`,
          `?id=${key}`,
          `?id=${key}&$fields=${field}`,
          `?id=${key}&$count=true`,
        ]) {
          const { status, body } = await get(`/notes${path}`)
          expect([status, Object.keys(body)], value).toEqual([
            500,
            ['message', 'validations', 'status'],
          ])
          expectReport('notes', key, field)
        }
        expect((await get(`/notes?id=${key}&$fields=id,note`)).status).toBe(200)
        await expect(service.as(system).collection('app', 'notes').get(key)).rejects.toMatchObject({
          kind: 'unfit',
          fields: [field],
        })
        expect(reports).toEqual([])
      }
    })

    test('is not JSON that fits, which is sent as it is', async () => {
      for (const value of fitJson) {
        const key = await add({ data: server.quoted(value) })
        const text = `"data":${value}}`
        expect((await get(`/notes/${key}`)).text).toContain(text)
        expect((await get(`/notes?id=${key}`)).text).toContain(text)
        expect((await post(`/notes/${key}`, { note: 'a' })).text).toContain(text)
        expect((await remove(`/seen/${key}`)).text).toContain(text.slice(0, -1))
      }
      expect(reports).toEqual([])
    })

    test('does not keep an item from being corrected or deleted', async () => {
      for (const [field, value] of misfits()) {
        for (const collection of ['notes', 'seen']) {
          const key = await add({
            [field]: value,
            note: `'old'`,
            ...(field !== 'data' && { data: `'[]'` }),
          })
          const path = `/${collection}/${key}`
          const changed = await post(path, { note: 'new' })
          expect(changed, value).toMatchObject({
            status: 200,
            body: {
              item: { id: key, note: 'new', [field]: null },
              validations: [information(field)],
            },
          })
          expectReport(collection, key, field)
          // It is still stored: the save did not change it.
          expect((await get(path)).status).toBe(500)
          expectReport(collection, key, field)
          if (key % 2 === 0) {
            const good = field === 'data' ? [1] : null
            const corrected = await post(path, { [field]: good })
            expect(corrected).toMatchObject({
              status: 200,
              body: { item: { [field]: good }, validations: [] },
            })
            expect(reports.splice(0).length).toBe(collection === 'seen' ? 1 : 0)
            if (good !== null) expect((await get(path)).status).toBe(200)
            expect(reports).toEqual([])
          } else {
            const removed = await remove(path)
            expect(removed).toMatchObject({
              status: 200,
              body: { item: { id: key, [field]: null }, validations: [information(field)] },
            })
            expectReport(collection, key, field)
          }
        }
      }
    })

    test('is null for handlers and validations, and computed fields of it are null', async () => {
      const key = await add({ data: server.quoted('[1e400]'), note: `'kept'` })
      const checked = await post(`/seen/${key}`, { note: 'check' })
      expect(checked).toMatchObject({
        status: 400,
        body: { validations: [{ message: '[null,null]' }] },
      })
      const kept = await remove(`/seen/${key}`)
      expect(kept).toMatchObject({
        status: 400,
        body: {
          item: { id: key, data: null },
          validations: [{ severity: 'error' }, information('data')],
        },
      })
      const changed = await post(`/seen/${key}`, { note: 'new' })
      expect(changed.body.item).toMatchObject({ data: null, size: null, label: 'new' })
      reports.length = 0
    })

    test('in process, a save returns null and information, and Change as well', async () => {
      const notes = service.as(system).collection('app', 'notes')
      const key = await add({ data: server.quoted('"\\ud800"') })
      const changed = await notes.change({ note: 'x' }, key)
      expect(changed).toMatchObject({ item: { data: null }, validations: [information('data')] })
      expect(await notes.update(key, { note: 'x' })).toMatchObject({
        rejected: false,
        item: { note: 'x', data: null },
        validations: [information('data')],
      })
      const many = await notes.updateMany({ id: key }, { note: 'y' })
      expect(many).toMatchObject({
        items: [{ note: 'y' }],
        validations: [{ key, ...information('data') }],
      })
      expect(await notes.deleteMany({ id: key })).toMatchObject({
        items: [{ id: key, data: null }],
        validations: [{ key, ...information('data') }],
      })
      reports.length = 0
    })

    test('is not mentioned to a caller who cannot read it', async () => {
      const key = await add({ data: server.quoted('[1e400]') })
      const guest = { 'x-user': 'guest' }
      const path = `/guarded/${key}`
      expect((await get(path, guest)).status).toBe(200)
      const changed = await post(path, { note: 'a' }, guest)
      expect(changed).toMatchObject({ status: 200, body: { item: { note: 'a' }, validations: [] } })
      expect(changed.text).not.toContain('data')
      const auditor = { 'x-user': 'a', 'x-roles': 'Auditor' }
      expect((await post(path, { note: 'b' }, auditor)).body.validations).toEqual([
        information('data'),
      ])
      reports.length = 0
    })

    test('is listed by an inspection', async () => {
      await foreign.run('delete from notes')
      for (const value of [...unfitJson, ...fitJson]) await add({ data: server.quoted(value) })
      const own = createService({
        applications: {
          app: {
            collections: {
              notes: defineCollection({ key: 'id', fields: { id: integer(), data: json() } }),
            },
          },
        },
        storage: foreign.storage(),
        security: openAccess(),
      })
      const problems = await own.inspect()
      expect(problems).toMatchObject([{ kind: 'unfit', fields: ['data'], count: unfitJson.length }])
      expect(problems[0]?.examples[0]).toContain('\\ud800')
      await own.close()
    })
  },
)
