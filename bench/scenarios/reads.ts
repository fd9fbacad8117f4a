import { archive, rowOf, rowsOf, salesTables } from '../database.ts'
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

const clients = rowsOf('clients', salesTables.clients)

/** Returns a probe of a page of the sales tables. */
export function pageProbe(dialect: Dialect, table: keyof typeof salesTables, page?: Page): Probe {
  const count = salesTables[table]
  const { limit = 10, offset = 0 } = page ?? {}
  return {
    request: { method: 'GET', path: dialect.list(table, page) },
    status: 200,
    body: dialect.pageBody(rowsOf(table, count).slice(offset, offset + limit), count, offset),
  }
}

function itemProbes(dialect: Dialect, table: string, index: number): Probe[] {
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
    probes: (dialect) => [pageProbe(dialect, 'clients', { limit: 7, offset: 321 })],
    load: (dialect) => {
      const next = turns(0, 9999)
      return () => {
        const number = next()
        const page = { limit: 1 + (number % 20), offset: Math.floor(number / 20) }
        return { method: 'GET', path: dialect.list('clients', page) }
      }
    },
    goals: [],
  },
  {
    name: 'read-item',
    title: 'Read an item by its key: all 10 fields',
    servers: [...allServers, floor, constant],
    probes: (dialect) => itemProbes(dialect, 'customers', 42),
    load: (dialect) => ({
      method: 'GET',
      path: dialect.item('customers', rowOf('customers', 42).customerId),
    }),
    goals: keyedGoals(1.35, 1.9),
  },
  {
    name: 'read-items',
    title: 'Read 1,000 distinct items in turn: all 10 fields',
    servers: [...bothServers, floor, constant],
    probes: (dialect) => itemProbes(dialect, 'clients', 777),
    load: (dialect) => {
      const next = turns(0, clients.length - 1)
      return () => {
        const { customerId = '' } = clients[next()] ?? {}
        return { method: 'GET', path: dialect.item('clients', customerId) }
      }
    },
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
      const { customerId } = rowOf('c0', 5)
      return () => ({ method: 'GET', path: dialect.item(collections[next()] ?? '', customerId) })
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
