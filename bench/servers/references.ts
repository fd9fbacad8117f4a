import Database from 'better-sqlite3'
import { createService, defineCollection, integer, openAccess, principal, text } from 'rowgate'
import { sqliteSchema, sqliteStorage } from 'rowgate/sqlite'

/** How long an insert took. */
export interface ReferenceFigures {
  readonly microsecondsPerInsert: number
}

const parents = 1_000
const inserts = 20_000
const together = 100
const [, , file = '', way = 'none'] = process.argv

const parent = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
const names = ['customers', 'employees', 'shippers'] as const
const orders = ordersWith(way !== 'none')
const collections = { customers: parent, employees: parent, shippers: parent, orders }

function ordersWith(hasReferences: boolean) {
  const fieldOf = (references: string) => integer(hasReferences ? { references } : {})
  return defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      customerId: fieldOf('customers'),
      employeeId: fieldOf('employees'),
      shipperId: fieldOf('shippers'),
      note: text({ maxLength: 40 }),
    },
  })
}

function orderOf(id: number) {
  const of = (factor: number) => (id * factor) % parents
  return { id, customerId: of(7), employeeId: of(11), shipperId: of(13), note: `order ${id}` }
}

function createTables(): void {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  // The hand-written inserts have the same tables.
  const declared = ordersWith(way.endsWith('database'))
  database.exec(sqliteSchema({ app: { collections: { ...collections, orders: declared } } }))
  for (const name of names) {
    const insert = database.prepare(`INSERT INTO ${name} (id, name) VALUES (?, ?)`)
    for (let id = 0; id < parents; id++) insert.run(id, `row ${id}`)
  }
  database.close()
}

async function runService(): Promise<number> {
  const service = createService({
    applications: { app: { collections } },
    storage: sqliteStorage(file, { synchronous: 'NORMAL' }),
    security: openAccess(),
    report: false,
  })
  await service.ready()
  const access = service.as(principal('bench')).collection('app', 'orders')
  const time = await timed(async (ids) => {
    const saved = await Promise.all(ids.map((id) => access.insert(orderOf(id))))
    if (saved.some(({ rejected }) => rejected)) throw new Error('An insert was rejected.')
  })
  await service.close()
  return time
}

async function runByHand(): Promise<number> {
  const database = new Database(file)
  database.pragma('foreign_keys = ON')
  database.pragma('synchronous = NORMAL')
  const insert = database.prepare(
    'INSERT INTO orders (id, customerId, employeeId, shipperId, note) VALUES (?, ?, ?, ?, ?)',
  )
  const found = names.map((name) => database.prepare(`SELECT 1 FROM ${name} WHERE id = ?`))
  const isWhole = (value: unknown) => Number.isSafeInteger(value)
  const save = (ids: readonly number[]): void => {
    for (const id of ids) {
      const { customerId, employeeId, shipperId, note } = orderOf(id)
      const keys = [customerId, employeeId, shipperId]
      if (![id, ...keys].every(isWhole) || note.length > 40) throw new Error('A bad value.')
      if (way === 'hand-reads' && keys.some((key, index) => found[index]?.get(key) === undefined))
        throw new Error('A missing row.')
      insert.run(id, ...keys, note)
    }
  }
  const transaction = database.transaction(save)
  const time = await timed((ids) => Promise.resolve(transaction(ids)))
  database.close()
  return time
}

/** Returns the microseconds of an insert. The first tenth is not measured. */
async function timed(run: (ids: readonly number[]) => Promise<void>): Promise<number> {
  const warm = inserts / 10
  let began = 0
  for (let from = 0; from < inserts + warm; from += together) {
    if (from === warm) began = performance.now()
    await run(Array.from({ length: together }, (_, index) => from + index))
  }
  return ((performance.now() - began) * 1000) / inserts
}

createTables()
const microsecondsPerInsert = way.startsWith('hand') ? await runByHand() : await runService()
const figures: ReferenceFigures = { microsecondsPerInsert }
process.send?.(figures)
