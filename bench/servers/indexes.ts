import Database from 'better-sqlite3'
import { createService, defineCollection, integer, openAccess, system, text } from 'rowgate'
import { sqliteStorage } from 'rowgate/sqlite'

/** What a page takes, in microseconds. */
export interface IndexFigures {
  indexed: number
  scanned: number
  byHand: number
}

const rows = 100_000
const file = process.argv[2] as string
const fields = { id: integer(), country: text(), city: text(), name: text() }
const collections = {
  indexed: defineCollection({ key: 'id', fields, index: [['country', 'city']] }),
  scanned: defineCollection({ key: 'id', fields }),
}
const service = createService({
  applications: { sales: { collections } },
  storage: sqliteStorage(file, { ensureSchema: true, synchronous: 'NORMAL' }),
  security: openAccess(),
})
await service.ready()
const database = new Database(file)
for (const table of ['indexed', 'scanned']) {
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO ${table} SELECT i, 'Country ' || i % 50, 'City ' || i % 1000, 'Name ' || i FROM n`)
}
const select = database.prepare(
  'SELECT id, country, city, name FROM indexed WHERE country = ? AND city = ? ORDER BY id LIMIT 10',
)

async function timeOf(times: number, page: (number: number) => unknown): Promise<number> {
  for (let number = 0; number < times / 5; number++) await page(number)
  const began = performance.now()
  for (let number = 0; number < times; number++) await page(number)
  return ((performance.now() - began) / times) * 1000
}

const place = (number: number) => ({
  country: `Country ${number % 50}`,
  city: `City ${number % 1000}`,
})
const own = service.as(system)
const pageOf = (name: keyof typeof collections) => (number: number) =>
  own.collection('sales', name).filter(place(number), { limit: 10 })
const figures: IndexFigures = {
  indexed: await timeOf(5_000, pageOf('indexed')),
  scanned: await timeOf(50, pageOf('scanned')),
  byHand: await timeOf(5_000, (number) => {
    const { country, city } = place(number)
    return select.all(country, city)
  }),
}
process.send?.(figures)
database.close()
await service.close()
