import { keyOf } from '../customer.ts'
import { archive, members, poolTables, rowOf, rowsOf, salesTables } from '../database.ts'
import type { Dialect, Page } from '../dialects.ts'
import {
  allServers,
  bothServers,
  constant,
  floor,
  keyedGoals,
  turns,
  type Probe,
  type Scenario,
} from '../scenario.ts'

/** What requests are sent, and which ones are sent before. */
export type Requests = Pick<Scenario, 'probes' | 'load'>

/** Returns a probe of a page of a table with some rows. */
export function pageProbe(
  dialect: Dialect,
  table: string,
  page: Page = {},
  count: number = salesTables[table as keyof typeof salesTables],
): Probe {
  const { limit = 10, offset = 0, address } = page
  const rows = rowsOf(table, count).filter(
    (row) => address === undefined || row.address === address,
  )
  return {
    request: { method: 'GET', path: dialect.list(table, page) },
    status: 200,
    body: dialect.pageBody(rows.slice(offset, offset + limit), rows.length, page),
  }
}

/** Returns probes of an item, and of an item that does not exist. */
export function itemProbes(dialect: Dialect, table: string, index: number): Probe[] {
  const row = rowOf(table, index)
  return [
    {
      request: { method: 'GET', path: dialect.item(table, row.customerId) },
      status: 200,
      body: dialect.itemBody(row),
    },
    { request: { method: 'GET', path: dialect.item(table, 'C99999999') }, status: 404 },
  ]
}

/** Returns requests of 10,000 pages in turn. */
export function distinctPages(table: string, count: number): Requests {
  return {
    probes: (dialect) => [pageProbe(dialect, table, { limit: 7, offset: 321 }, count)],
    load: (dialect) => {
      const next = turns(0, 9999)
      return () => {
        const number = next()
        const page = { limit: 1 + (number % 20), offset: Math.floor(number / 20) }
        return { method: 'GET', path: dialect.list(table, page) }
      }
    },
  }
}

/** Returns requests of all items of a table in turn. */
export function distinctItems(table: string, count: number): Requests {
  return {
    probes: (dialect) => itemProbes(dialect, table, 777),
    load: (dialect) => {
      const next = turns(1, count)
      return () => ({ method: 'GET', path: dialect.item(table, keyOf(next())) })
    },
  }
}

const addresses = 200

/** Returns requests of pages of the rows with an address, of which each has its turn. */
export function filteredPages(table: string, count: number): Requests {
  const addressOf = (index: number) => rowOf(table, index).address ?? ''
  return {
    probes: (dialect) => [
      pageProbe(dialect, table, { address: addressOf(77) }, count),
      pageProbe(dialect, table, { address: addressOf(77), limit: 2, offset: 3 }, count),
      pageProbe(dialect, table, { address: 'nowhere' }, count),
    ],
    load: (dialect) => {
      const next = turns(1, addresses)
      return () => ({ method: 'GET', path: dialect.list(table, { address: addressOf(next()) }) })
    },
  }
}

const collections = Array.from({ length: 1000 }, (_, number) => `c${number}`)

export const reads: Scenario[] = [
  {
    name: 'read-page',
    title: 'Read a page: 10 of 91 rows, 4 fields',
    servers: [...allServers, 'rowgate-keys-read', 'rowgate-watched', floor, constant],
    probes: (dialect) => [pageProbe(dialect, 'customers')],
    load: (dialect) => ({ method: 'GET', path: dialect.list('customers') }),
    goals: [...keyedGoals(1.4, 2.9), { own: 'rowgate-keys', of: 'rowgate', microseconds: 4 }],
  },
  {
    name: 'read-100',
    title: 'Read a page of 100: `$limit=100` of 1,000 rows, 4 fields',
    servers: [...allServers, floor, constant],
    probes: (dialect) => [pageProbe(dialect, 'clients', { limit: 100 })],
    load: (dialect) => ({ method: 'GET', path: dialect.list('clients', { limit: 100 }) }),
    goals: keyedGoals(1.75, 5),
  },
  {
    name: 'read-pages',
    title: 'Read 10,000 distinct pages in turn: 1 to 20 of 1,000 rows, 500 offsets',
    servers: bothServers,
    ...distinctPages('clients', salesTables.clients),
    goals: [],
  },
  {
    name: 'filtered',
    title: 'Read pages filtered by 200 values of an indexed column in turn: 10 of 2,000 rows',
    tables: poolTables,
    servers: [...bothServers, floor],
    ...filteredPages('members', members),
    goals: keyedGoals(1.3),
  },
  {
    name: 'read-item',
    title: 'Read an item by its key: all 10 fields',
    servers: [...allServers, floor, constant],
    probes: (dialect) => itemProbes(dialect, 'customers', 42),
    load: (dialect) => ({
      method: 'GET',
      path: dialect.item('customers', keyOf(42)),
    }),
    goals: keyedGoals(1.35, 1.9),
  },
  {
    name: 'read-items',
    title: 'Read 1,000 distinct items in turn: all 10 fields',
    servers: [...bothServers, floor, constant],
    ...distinctItems('clients', salesTables.clients),
    goals: keyedGoals(1.35, 1.9),
  },
  {
    name: 'collections',
    title: 'Read an item of 1,000 collections in turn: all 10 fields',
    tables: Object.fromEntries(collections.map((name) => [name, 10])),
    servers: bothServers,
    probes: (dialect) => itemProbes(dialect, 'c500', 5),
    load: (dialect) => {
      const next = turns(0, collections.length - 1)
      return () => ({ method: 'GET', path: dialect.item(collections[next()] ?? '', keyOf(5)) })
    },
    goals: [],
  },
  {
    name: 'offset',
    title: 'Read a deep page: `$offset=100000` of a million rows',
    tables: { [archive]: 1_000_000 },
    servers: bothServers,
    connections: 4,
    probes: (dialect) => [deepProbe(dialect)],
    load: (dialect) => deepProbe(dialect).request,
    goals: [{ own: 'rowgate-keys-uncached', microseconds: 2000 }],
  },
  {
    name: 'count',
    title: 'Count: `$limit=0&$count=true` of a million rows',
    tables: { [archive]: 1_000_000 },
    servers: bothServers,
    connections: 4,
    probes: (dialect) => [
      {
        request: countRequest(dialect),
        status: 200,
        body: { ...(dialect.pageBody([], 1_000_000) as object), count: 1_000_000 },
      },
    ],
    load: countRequest,
    goals: [{ own: 'rowgate-keys-uncached', microseconds: 1000 }],
  },
]

function deepProbe(dialect: Dialect): Probe {
  const offset = 100_000
  const rows = Array.from({ length: 10 }, (_, index) => rowOf(archive, offset + 1 + index))
  return {
    request: { method: 'GET', path: dialect.list(archive, { limit: 10, offset }) },
    status: 200,
    body: dialect.pageBody(rows, 1_000_000),
  }
}

function countRequest(dialect: Dialect) {
  return {
    method: 'GET' as const,
    path: `${dialect.list(archive, { limit: 0 })}&$count=true`,
  }
}
