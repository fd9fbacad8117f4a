import Database from 'better-sqlite3'
import {
  boolean,
  createService,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  openAccess,
  text,
  uuid,
} from 'rowgate'
import { sqliteStorage } from 'rowgate/sqlite'

/** What a check takes, and how many problems it finds. */
export interface CheckFigures {
  milliseconds: number
  problems: number
}

const rows = 1_000_000
const file = process.argv[2] as string

// As another program would have written it. One row refers to a row that does not exist.
const database = new Database(file)
database.exec(`
  CREATE TABLE orders (id INTEGER PRIMARY KEY, number TEXT UNIQUE, city TEXT, ordered DATETIME, shipped INTEGER,
    freight NUMERIC, paid CHAR(1), token TEXT, ratio REAL, parent INTEGER);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
  INSERT INTO orders SELECT i, 'N-' || i, 'Zürich ' || i % 1000, datetime(800000000 + i * 60, 'unixepoch'),
    800000000 + i * 60, i % 100000 / 100.0, CASE i % 2 WHEN 0 THEN 'N' ELSE 'Y' END,
    printf('%08x-0000-4000-8000-%012x', i, i), i / 7.0, CASE i WHEN 5 THEN -1 ELSE (i + 1) / 2 END FROM n`)
database.close()

const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    number: text({ unique: true }),
    city: text(),
    ordered: dateTime({ storedAs: 'YYYY-MM-DD hh:mm:ss[.fff]' }),
    shipped: instant({ storedAs: 'unixSeconds' }),
    freight: decimal({ precision: 10, scale: 2, storedAs: 'real' }),
    paid: boolean({ storedAs: 'Y/N' }),
    token: uuid(),
    ratio: double(),
    parent: integer({ references: 'orders' }),
  },
})
const service = createService({
  applications: { sales: { collections: { orders } } },
  storage: sqliteStorage(file),
  security: openAccess(),
})
await service.ready()
const began = performance.now()
const problems = await service.inspect()
const figures: CheckFigures = {
  milliseconds: performance.now() - began,
  problems: problems.length,
}
process.send?.(figures)
await service.close()
