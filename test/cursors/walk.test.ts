import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  memoryStorage,
  system,
  text,
  uuid,
} from '../../src/entries/index.ts'
import { mariadb, missingServer as missingMariadb } from '../kit/mysql.ts'
import { missingServer as missingPostgres, postgres } from '../kit/postgres.ts'
import { send, withServices } from '../kit/service.ts'
import { memory, sqlite, type Storage } from '../kit/storages.ts'
import { itemsOf, readToEnd } from './reading.ts'

const money = { precision: 9, scale: 2 } as const
const fields = {
  part: text(),
  id: integer(),
  name: text(),
  weight: double(),
  number: bigint(),
  price: decimal(money),
  isNew: boolean(),
  day: date(),
  local: dateTime(),
  at: instant(),
  token: uuid(),
}
const things = defineCollection({ key: ['part', 'id'], cursor: true, fields })
const otherForms = defineCollection({
  key: ['part', 'id'],
  cursor: true,
  fields: {
    ...fields,
    price: decimal({ ...money, storedAs: 'real' }),
    isNew: boolean({ storedAs: 'Y/N' }),
    day: date({ storedAs: 'unixSeconds' }),
    local: dateTime({ storedAs: 'YYYY-MM-DD[ hh:mm:ss[.fff]]' }),
    at: instant({ storedAs: 'YYYY-MM-DD hh:mm:ss.fff' }),
    token: uuid({ storedAs: 'blob' }),
  },
})

// Few values, so that most are repeated.
const value = fc.record({
  name: fc.constantFrom(null, '', 'a', 'B', 'é', '\uFF5E', '😀', "'%_"),
  weight: fc.constantFrom(null, 0, -1.5, 0.1, 1e300, 5e-324),
  number: fc.constantFrom(null, '-9223372036854775808', '9007199254740993', '9', '10'),
  price: fc.constantFrom(null, '-10.00', '-9.50', '0.00', '9.00', '10.00'),
  isNew: fc.constantFrom(null, true, false),
  day: fc.constantFrom(null, '0999-12-31', '2024-02-29'),
  local: fc.constantFrom(null, '2024-02-29T00:00:00', '2024-02-29T10:11:12.500'),
  at: fc.constantFrom(null, '2024-02-29T10:11:12Z', '2024-02-29T10:11:12.001Z'),
  token: fc.constantFrom(
    null,
    '1c0f7f3e-0000-4000-8000-000000000000',
    'ffffffff-0000-4000-8000-000000000000',
  ),
})
const parts = ['x', 'y', 'Ž']
const rows = fc
  .array(value, { minLength: 1, maxLength: 25 })
  .map((all) => all.map((one, index) => ({ part: parts[index % 3] as string, id: index, ...one })))

const names = Object.keys(fields)
const sort = fc
  .tuple(
    fc.shuffledSubarray(names, { minLength: 1, maxLength: 4 }),
    fc.infiniteStream(fc.boolean()),
  )
  .map(([chosen, signs]) => chosen.map((name) => (signs.next().value === true ? `-${name}` : name)))
const filter = fc.constantFrom('', '&isNew=true', '&name=', '&$q=b')

/** A change of a row that the reader does not look for. */
const change = fc.record({
  kind: fc.constantFrom('insert', 'update', 'delete'),
  part: fc.constantFrom(...parts),
  id: fc.integer({ min: 100, max: 105 }),
  values: value,
})

/** Memory storage that compares values for equality only. The library completes its conditions. */
const lesser: Storage = {
  name: 'equality',
  open: () => {
    const memory = memoryStorage()
    const supports = { textPages: false, durable: false, generatedNumbers: true }
    return { storage: { ...memory, supports }, remove: () => undefined }
  },
}

const missing = new Map([
  ['postgres', await missingPostgres()],
  ['mariadb', await missingMariadb()],
])
const cases: readonly (readonly [string, Storage, typeof things, number])[] = [
  ['memory', memory, things, 60],
  ['sqlite', sqlite, things, 40],
  ['sqlite, other forms', sqlite, otherForms, 25],
  ['an adapter with equality only', lesser, things, 25],
  ['postgres', postgres, things, 25],
  ['mariadb', mariadb, things, 25],
]

describe.each(cases)('%s', (name, storage, definition, numRuns) => {
  test.skipIf(missing.get(name) !== undefined)(
    'reading by cursors shows every item once, in order, while other items change',
    { timeout: 300_000 },
    () =>
      withServices(storage, async (open) => {
        const { service } = open({ collections: { things: definition } })
        const own = service.as(system).collection('app', 'things')
        const sample = fc.record({
          all: rows,
          order: sort,
          limit: fc.integer({ min: 1, max: 6 }),
          filter,
          changes: fc.array(change, { maxLength: 12 }),
        })
        await fc.assert(
          fc.asyncProperty(sample, async ({ all, order, limit, filter: conditions, changes }) => {
            await own.deleteMany({})
            expect((await own.insertMany(all)).rejected).toBe(false)
            const path = `/things?$sort=${order.join(',')}${conditions}`
            const whole = await send(service, { method: 'GET', path: `${path}&$limit=100` })
            const expected = whole.body.items ?? []

            const undisturbed = await readToEnd(service, `${path}&$limit=${limit}`)
            expect(itemsOf(undisturbed)).toEqual(expected)
            expect(undisturbed.length).toBe(Math.max(1, Math.ceil(expected.length / limit)))

            const waiting = [...changes]
            const pages = await readToEnd(
              service,
              `${path}&$limit=${limit}&$count=true`,
              async () => {
                for (const { kind, part, id, values } of waiting.splice(0, 3)) {
                  if (kind === 'insert') await own.insert({ part, id, ...values })
                  else if (kind === 'update') await own.update([part, id], values)
                  else await own.delete([part, id])
                }
              },
            )
            const isStable = ({ id }: Record<string, unknown>): boolean => (id as number) < 100
            expect(itemsOf(pages).filter(isStable)).toEqual(expected)
            expect(pages[0]?.body.count).toBe(expected.length)
          }),
          { numRuns },
        )
      }),
  )
})
