import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  bigint,
  boolean,
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  json,
  openAccess,
  system,
  text,
  uuid,
  type Observation,
  type Service,
} from '../../../src/entries/index.ts'
import type { ApplicationDefinitions } from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteHandle } from '../../../src/entries/sqlite.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'

const fields = {
  id: integer(),
  label: text(),
  quantity: integer(),
  large: bigint(),
  amount: decimal({ precision: 9, scale: 2 }),
  flag: boolean(),
  day: date(),
  local: dateTime(),
  moment: instant(),
  token: uuid(),
  data: json(),
} as const
const ratio = double()

/** Values that fit, and that a naive check may reject. */
const fine: readonly (readonly [field: string, sql: string])[] = [
  ['label', `'replaced \ufffd by its writer'`],
  ['label', `'\\u0000 as six characters'`],
  ['quantity', '-9007199254740991'],
  ['large', '-9223372036854775808'],
  ['amount', `'-0.01'`],
  ['day', `'2024-02-29'`],
  ['local', `'9999-12-31T23:59:59.999'`],
  ['moment', `'2024-02-29T00:00:00.000Z'`],
  ['data', `'{"a":[1,{"b":null}]}'`],
  ['data', `'{"a":1.10,"a":["\\ud83d\\ude00",12345678901234567890.5]}'`],
  ['ratio', '3'],
  ['ratio', '1e300'],
]

/** JSON that SQLite finds valid, and no request could contain. */
const lateJson = [
  `'"\\ud800"'`,
  `'{"\\u0000":1}'`,
  `'[1e400]'`,
  `'${'['.repeat(33)}${']'.repeat(33)}'`,
]

const oddValues: readonly (readonly [field: string, sql: string])[] = [
  ['label', '42'],
  ['label', `x'c3a9'`],
  // JSONB for null, which json_object would accept.
  ['label', `x'00'`],
  ['label', `'a' || char(0) || 'b'`],
  ['label', `cast(x'61ff62' as text)`],
  ['quantity', `'12'`],
  ['quantity', `'twelve'`],
  ['quantity', '2.5'],
  ['quantity', '9007199254740992'],
  ['quantity', `x'00'`],
  ['large', '1e30'],
  ['large', `'x'`],
  ['amount', '1.25'],
  ['amount', `'1,25'`],
  ['amount', `'1.5'`],
  ['amount', `'12345678.00'`],
  ['amount', `'-0.00'`],
  ['amount', `'1-2.00'`],
  ['flag', '2'],
  ['flag', `'true'`],
  ['day', `'29.2.2024'`],
  ['day', `'2023-02-29'`],
  ['day', `'0000-01-01'`],
  ['day', `'now'`],
  ['day', '20240229'],
  ['local', `'2024-02-29 10:00:00'`],
  ['local', `'2024-02-29T24:00:00'`],
  ['local', `'2024-02-29T10:00:00' || char(0) || '","x":"y'`],
  // A value has one stored form, so that conditions find it.
  ['local', `'2024-02-29T10:00:00.000'`],
  ['moment', `'2024-02-29T10:00:00Z'`],
  ['moment', `'2024-02-29T10:00:00'`],
  ['moment', '1709200000'],
  ['token', `'not a uuid'`],
  ['token', `'0F8FAD5B-D9CB-469F-A165-70867728950E'`],
  ['data', `'{"a":'`],
  ['data', `'1},"evil":{"a":1'`],
  ['data', `'{"a":1}' || char(0) || ',"evil":1'`],
  ['data', `x'7b7d'`],
  ['data', '7'],
  ...lateJson.map((text) => ['data', text] as const),
  ['ratio', '9e999'],
  ['ratio', '-9e999'],
  ['ratio', `'0.5'`],
  ['ratio', '9007199254740993'],
]

const good = {
  label: `'tea'`,
  quantity: '1',
  large: '9007199254740993',
  amount: `'1.20'`,
  flag: '1',
  day: `'2024-02-28'`,
  local: `'2024-02-28T10:00:00.123'`,
  moment: `'2024-02-28T10:00:00.000Z'`,
  token: `'0f8fad5b-d9cb-469f-a165-70867728950e'`,
  data: `'{"a":1}'`,
  ratio: '0.5',
}

/** Writes rows with raw SQL: each fits but for one value. */
function fill(handle: SqliteHandle, values: readonly (readonly [string, string])[], first: number) {
  for (const [index, [field, value]] of values.entries()) {
    const row = { id: String(first + index), ...good, [field]: value }
    handle.exec(
      `INSERT INTO things (${Object.keys(row).join()}) VALUES (${Object.values(row).join()})`,
    )
  }
}

// `things` has no double: SQLite writes its pages as text. `ratios` is read as rows.
const applications = {
  shop: {
    collections: {
      things: defineCollection({ key: 'id', fields }),
      ratios: defineCollection({ key: 'id', table: 'things', fields: { ...fields, ratio } }),
    },
  },
} satisfies ApplicationDefinitions

const untyped = 'label'
const declarations = drivers.flatMap((driver) => [
  [driver, untyped] as const,
  [driver, 'label TEXT'] as const,
])

describe.each(declarations)(
  '%s: a table of another program with the column %s',
  (driver, label) => {
    const names = Object.keys(good).filter((name) => name !== 'label')
    const columns = ['id INTEGER PRIMARY KEY', label, ...names].join(', ')
    // SQLite stores a number in a TEXT column as a string, which fits.
    const odd = oddValues.filter(
      ([field, sql]) => label === untyped || field !== 'label' || sql !== '42',
    )
    const reports: Observation[] = []
    let handle: SqliteHandle
    let service: Service<ApplicationDefinitions>

    beforeAll(async () => {
      handle = openHandle(driver, ':memory:')
      handle.exec(`CREATE TABLE things (${columns})`)
      fill(handle, fine, 1)
      fill(handle, odd, 101)
      const report = (observation: Observation): void => void reports.push(observation)
      const storage = sqliteStorage(handle)
      service = createService({
        applications: applications,
        storage,
        security: openAccess(),
        report,
      })
      await service.ready()
    })
    afterAll(async () => {
      await service.close()
      handle.close()
    })

    async function send(method: string, path: string, body?: unknown) {
      reports.length = 0
      const reply = await service.handle({
        method,
        target: `/rest/v1/shop/${path}`,
        header: (name) => ({ 'content-type': 'application/json' })[name],
        secure: true,
        peer: undefined,
        signal: undefined,
        body: async () => new TextEncoder().encode(JSON.stringify(body)),
      })
      return { status: reply.status, body: JSON.parse(reply.body) as Record<string, unknown> }
    }

    const isIn = (collection: string, field: string) => field !== 'ratio' || collection === 'ratios'

    describe.each(['things', 'ratios'])('as %s', (collection) => {
      test.each(odd.map(([field, sql], index) => [field, sql, 101 + index] as const))(
        'responds 500 for %s = %s, and reports it',
        async (field, _sql, id) => {
          if (!isIn(collection, field)) return
          for (const path of [`${collection}/${id}`, `${collection}?id=${id}`]) {
            const { status, body } = await send('GET', path)
            expect(status).toBe(500)
            expect(Object.keys(body)).toEqual(['message', 'validations', 'status'])
            expect(reports).toMatchObject([
              { type: 'stored-value-unfit', error: { fields: [field] } },
            ])
            const [{ error }] = reports as unknown as [{ error: Error }]
            expect(error.message).toContain(`shop/${collection}, item ${id}: `)
            expect(error.message).toContain(`${field} must be `)
          }
          // A page without the field succeeds. The report of a page with only the field still has the key.
          expect((await send('GET', `${collection}?id=${id}&$fields=id`)).status).toBe(200)
          expect((await send('GET', `${collection}?id=${id}&$fields=${field}`)).status).toBe(500)
          expect(reports).toMatchObject([
            { error: { message: expect.stringContaining(`item ${id}:`) as string } },
          ])
        },
      )

      test('responds 500 for a page with such a row among others', async () => {
        expect(
          (await send('GET', `${collection}?$limit=${fine.length + 1}&$count=true`)).status,
        ).toBe(500)
        expect(reports).toMatchObject([
          { type: 'stored-value-unfit', error: { fields: ['label'] } },
        ])
      })

      test('responds 200 with the values of the others', async () => {
        const page = await send('GET', `${collection}?$limit=${fine.length}&$count=true`)
        expect(page.status).toBe(200)
        const items = page.body['items'] as Record<string, unknown>[]
        expect(items.map((item) => item['id'])).toEqual(fine.map((_, index) => index + 1))
        expect(items[0]?.['label']).toBe('replaced \ufffd by its writer')
        expect(items[1]).toMatchObject({ label: '\\u0000 as six characters', data: { a: 1 } })
        expect(page.body['count']).toBe(rowsIn(handle, 'SELECT id FROM things').length)
        expect(reports).toEqual([])
      })
    })

    test('can be corrected and emptied through the service', async () => {
      for (const [index, [field]] of odd.entries()) {
        const path = `ratios/${101 + index}`
        const other = field === 'label' ? 'quantity' : 'label'
        const changed = await send('POST', path, { [other]: field === 'label' ? 5 : 'new' })
        const validations = [{ severity: 'information', field }]
        expect(changed).toMatchObject({
          status: 200,
          body: { item: { [field]: null }, validations },
        })
        expect(reports).toMatchObject([{ type: 'stored-value-unfit', error: { fields: [field] } }])
        if (index % 2 === 0) {
          const corrected = await send('POST', path, { [field]: null })
          expect(corrected).toMatchObject({ status: 200, body: { item: { [field]: null } } })
          expect((await send('GET', path)).status).toBe(200)
        }
        const removed = await send('DELETE', path)
        expect(removed).toMatchObject({ status: 200, body: { item: { [field]: null } } })
        expect(reports).toHaveLength(index % 2 === 0 ? 0 : 1)
      }
      expect(rowsIn(handle, 'SELECT id FROM things')).toHaveLength(fine.length)
    })
  },
)

describe.each(drivers)('%s: a table of the library', (driver) => {
  test('does not accept a value that does not fit', async () => {
    const handle = openHandle(driver, ':memory:')
    const { ratios } = applications.shop.collections
    const service = createService({
      applications: { shop: { collections: { ratios } } },
      storage: sqliteStorage(handle, { ensureSchema: true }),
      security: openAccess(),
    })
    await service.ready()
    const accepted: string[] = []
    const served: string[] = []
    fill(handle, fine, 1)
    const ratiosOf = service.as(system).collection('shop', 'ratios')
    for (const [index, [field, sql]] of oddValues.entries()) {
      try {
        fill(handle, [[field, sql]], 101 + index)
      } catch {
        continue
      }
      accepted.push(`${field} = ${sql}`)
      const item = await ratiosOf.get(101 + index).catch(() => undefined)
      if (item !== undefined) served.push(`${field} = ${sql}`)
    }
    // SQLite converts a value of another type, such as '12' in an INTEGER column, if that loses nothing.
    const converted = ['label = 42', `quantity = '12'`, 'amount = 1.25', 'data = 7']
    converted.push(`ratio = '0.5'`, 'ratio = 9007199254740993')
    expect(served.sort()).toEqual(converted.sort())
    // A CHECK can't detect these values. Reads detect them.
    const late = [`label = cast(x'61ff62' as text)`, `amount = '12345678.00'`]
    late.push(...lateJson.map((text) => `data = ${text}`))
    expect(accepted.sort()).toEqual([...converted, ...late].sort())
    await service.close()
    handle.close()
  })
})
