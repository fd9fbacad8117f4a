import { expect, onTestFinished, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { date, decimal, defineCollection, integer, text } from '../../../src/entries/index.ts'
import type {
  PublishedCollection,
  Row,
  StorageAdapter,
  StorageErrorKind,
} from '../../../src/entries/storage.ts'
import { startProxy } from '../../kit/proxy.ts'

const parents = defineCollection({
  key: 'name',
  fields: { name: text({ column: 'Name' }) },
})
const children = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    code: text({ column: "the 'code`", unique: true }),
    first: text({ maxLength: 10 }),
    second: text({ maxLength: 10 }),
    parent: text({ references: 'parents' }),
    small: integer(),
    amount: decimal({ precision: 4, scale: 2 }),
    day: date(),
  },
  unique: [['first', 'second']],
})

/** Two collections, of which one refers to the other. */
export const published = publishApplications({ app: { collections: { parents, children } } })
export const child = published.find(({ name }) => name === 'children') as PublishedCollection
export const parent = published.find(({ name }) => name === 'parents') as PublishedCollection

/** The row of `child` that every case finds, beside its parent `p`. */
export const row: Row = {
  id: 1,
  code: 'a',
  first: 'x',
  second: 'y',
  parent: 'p',
  small: 1,
  amount: '1.00',
  day: '2024-02-29',
}

const writing = { mode: 'write', brief: true } as const
const waiting = { mode: 'write', brief: false } as const

/** Inserts one row in a transaction. */
export function insert(
  storage: StorageAdapter,
  collection: PublishedCollection,
  given: Row,
): Promise<Row> {
  return storage.transaction(writing, (on) => on.insert(collection, given))
}

/** Inserts a row of `child` that differs from the stored one, and as the case says. */
export function insertChild(storage: StorageAdapter, changes: Row): Promise<Row> {
  return insert(storage, child, { ...row, id: null, code: 'b', first: 'z', ...changes })
}

/** Deletes the row of `parent` that a row of `child` refers to. */
export function deleteParent(storage: StorageAdapter): Promise<unknown> {
  return storage.transaction(writing, (on) =>
    on.delete(parent, [{ field: 'name', is: 'equal', value: 'p' }]),
  )
}

type Writer = Pick<StorageAdapter, 'transaction'>
type Updater = Parameters<Parameters<Writer['transaction']>[1]>[0]

function rename(on: Updater, id: number, first: string): Promise<unknown> {
  return Promise.resolve(on.update(child, [{ field: 'id', is: 'equal', value: id }], { first }))
}

/** Updates a row with one storage while a transaction of another one holds it. */
export function updateHeld(holder: Writer, other: Writer): Promise<unknown> {
  return holder.transaction(waiting, async (on) => {
    await rename(on, 1, 'held')
    await other.transaction(writing, (inner) => rename(inner, 1, 'new'))
  })
}

/** Updates a row that another transaction has updated since this one began. */
export function updateOvertaken(storage: StorageAdapter): Promise<unknown> {
  return storage.transaction(waiting, async (on) => {
    const query = { conditions: [], search: null, sort: [], limit: 1, offset: 0, count: false }
    await on.filter(child, { ...query, select: ['id'] })
    await storage.transaction(writing, (other) => rename(other, 1, 'faster'))
    await rename(on, 1, 'late')
  })
}

/** Updates two rows in two transactions, each in the order that blocks the other one. */
export async function updateCrosswise(storage: StorageAdapter): Promise<unknown> {
  await insert(storage, child, { ...row, id: 2, code: 'b', first: 'z' })
  const bothHold = barrier(2)
  const cross = (one: number, other: number): Promise<unknown> =>
    storage.transaction(waiting, async (on) => {
      await rename(on, one, `first ${one}`)
      await bothHold()
      await rename(on, other, `last ${one}`)
    })
  const results = await Promise.allSettled([cross(1, 2), cross(2, 1)])
  const failed = results.filter(({ status }) => status === 'rejected')
  expect(failed).toHaveLength(1)
  throw (failed[0] as PromiseRejectedResult).reason
}

function barrier(count: number): () => Promise<void> {
  let arrived = 0
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    arrived += 1
    if (arrived === count) open()
    return opened
  }
}

/** Runs an action while an insert sleeps in the server, which `isAsleep` finds. */
export async function duringInsert(
  storage: StorageAdapter,
  isAsleep: () => Promise<boolean>,
  action: () => unknown,
): Promise<unknown> {
  const interrupt = async (): Promise<void> => {
    while (!(await isAsleep()));
    await action()
  }
  const [inserted] = await Promise.allSettled([
    insertChild(storage, { first: 'sleep' }),
    interrupt(),
  ])
  if (inserted.status === 'rejected') throw inserted.reason
  return inserted.value
}

/** Returns the address of a server that resets connections, for the duration of the test. */
export async function refusing(
  server: Parameters<typeof startProxy>[0],
): Promise<{ readonly host: string; readonly port: number }> {
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  proxy.refuse()
  return { host: proxy.host, port: proxy.port }
}

/** A host that does not exist: a label has at most 63 characters. */
export const missingHost = 'a'.repeat(64)

/** What the caller of storage receives. */
interface Received {
  readonly kind: StorageErrorKind
  readonly isConflict?: boolean
  readonly fields?: readonly string[]
}

export const conflict: Received = { kind: 'unavailable', isConflict: true }
export const unavailable: Received = { kind: 'unavailable', isConflict: false }

export function duplicate(...fields: readonly string[]): Received {
  return { kind: 'duplicate', fields }
}

export function invalid(...fields: readonly string[]): Received {
  return { kind: 'invalid', fields }
}

/** A row of the table of errors of a server, what provokes it, and the error of storage that it becomes. */
export type ErrorCase = readonly [
  code: string,
  what: string,
  provoke: () => Promise<unknown>,
  becomes: Received,
]

/** The table of errors of a server, and how its rows are known. */
export interface ErrorTable {
  readonly table: Readonly<Record<string, unknown>>
  /** Returns the row of the table that holds for an error of the driver. */
  readonly rowOf: (error: unknown) => string | undefined
  readonly cases: readonly ErrorCase[]
  /** Why no case provokes a row, and the rows for which that is so. */
  readonly documented: Readonly<Record<string, readonly string[]>>
}

/** The failures of a network that no case provokes, on each server. */
export const untestedNetworkFailures = {
  'the state of a socket that the driver has not noticed': ['EPIPE'],
  'a name server that does not respond': ['EAI_AGAIN'],
  'a network without a route to the server': [
    'ECONNABORTED',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ENETUNREACH',
    'ENETDOWN',
  ],
} satisfies ErrorTable['documented']

/** Tests every row of a table of errors. */
export function testErrorTable({ table, rowOf, cases, documented }: ErrorTable): void {
  test.each(cases)('%s is converted: %s', async (code, _, provoke, becomes) => {
    const failure: unknown = await provoke().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toMatchObject(becomes)
    expect(rowOf((failure as Error).cause)).toBe(code)
  })

  test('every row of the table is provoked or known from documentation, not both', () => {
    const provoked = new Set(cases.map(([code]) => code))
    const rows = [...provoked, ...Object.values(documented).flat()]
    expect(rows.toSorted()).toEqual(Object.keys(table).toSorted())
  })
}

/** Tests that storage rejects values before it sends them, and finds no row with them. */
export async function expectUnstorable(
  storage: StorageAdapter,
  value: string,
  message: string,
): Promise<void> {
  await expect(insert(storage, child, { ...row, id: 9, code: value })).rejects.toThrow(message)
  const page = await storage.filter(child, {
    conditions: [{ is: 'or', conditions: [{ field: 'code', is: 'equal', value }] }],
    search: null,
    sort: [],
    limit: 10,
    offset: 0,
    select: ['id'],
    count: true,
  })
  expect(page).toEqual({ rows: [], count: 0 })
}
