import { createReadStream, readFileSync } from 'node:fs'
import { JSONPath } from 'jsonpath-plus'
import { defineCollection, integer, text } from 'rowgate'
import {
  applyRules,
  connection,
  endpoint,
  flatten,
  flattenElements,
  rule,
  typed,
  type TargetCollections,
} from 'rowgate/consume'
import type { Body } from '../orders.ts'

/** What one way to read a response takes. */
export interface TableFigures {
  /** Processor time of all threads, which other programs of the machine hardly change. */
  milliseconds: number
  /** The rows, or the values, that it returned. */
  rows: number
  /** The largest resident memory of the process. */
  peakMegabytes: number
}

type Way = (file: string) => number | Promise<number>

const read = (file: string): Body => JSON.parse(readFileSync(file, 'utf8')) as Body

const items = defineCollection({
  key: 'id',
  fields: {
    id: integer({ generated: 'database' }),
    orderId: text(),
    city: text(),
    sku: text(),
    quantity: integer(),
  },
})
const orders = endpoint(connection({ baseUrl: 'https://orders.example' }), {
  name: 'orders',
  path: '/',
  response: typed<Body>(),
})
const lines = rule(orders, {
  from: 'data/lines',
  into: items,
  set: {
    orderId: { parent: 'orderId' },
    city: { parent: 'customer/address/city' },
    sku: 'sku',
    quantity: 'quantity',
  },
})
// Measures the join alone: storing would take most of the time.
const nowhere: TargetCollections = {
  collection: () =>
    ({
      insert: () => Promise.resolve({ rejected: false, validations: [] }),
    }) as unknown as ReturnType<TargetCollections['collection']>,
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]))
}

const rowsOf = ({ root, tables }: ReturnType<typeof flatten>): number =>
  [root, ...tables.values()].reduce((sum, table) => sum + table.rows.length, 0)

/** The paths of the columns that the tables have, for JSONPath. */
const paths = [
  ...['orderId', 'placed', 'customer.name', 'customer.address.city'].map(
    (path) => `$.data[*].${path}`,
  ),
  ...['sku', 'quantity', 'price'].map((path) => `$.data[*].lines[*].${path}`),
  '$.data[*].lines[*].tags[*]',
]

const ways: Readonly<Record<string, Way>> = {
  parse: (file) => read(file).data.length,
  copy: (file) => (copyOf(read(file)) as Body).data.length,
  flatten: (file) => rowsOf(flatten(read(file) as never)),
  stream: async (file) => {
    let rows = 0
    for await (const tables of flattenElements(createReadStream(file), { items: 'data' })) {
      rows += rowsOf(tables)
    }
    return rows
  },
  join: async (file) => (await applyRules(nowhere, [lines], read(file))).length,
  jsonpath: (file) => {
    const json = read(file) as object
    return paths.reduce((sum, path) => sum + (JSONPath({ path, json }) as unknown[]).length, 0)
  },
}

const [, , file = '', name = ''] = process.argv
const begun = process.cpuUsage()
const rows = (await ways[name]?.(file)) ?? 0
const { user, system } = process.cpuUsage(begun)
const milliseconds = (user + system) / 1000
const peakMegabytes = process.resourceUsage().maxRSS / 1024
process.send?.({ milliseconds, rows, peakMegabytes } satisfies TableFigures)
