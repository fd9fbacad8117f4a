import { keyOf, type Customer } from '../customer.ts'
import { rowOf, salesTables } from '../database.ts'
import type { Dialect } from '../dialects.ts'
import {
  allServers,
  bothServers,
  constant,
  floor,
  keyedBaseline,
  keyedGoals,
  turns,
  type HttpRequest,
  type Probe,
  type Scenario,
} from '../scenario.ts'
import { pageProbe, type Requests } from './reads.ts'

type Table = keyof typeof salesTables

const added = rowOf('customers', 1_000_000)
const nextRow = turns(1_000_001)
const nextUpdate = turns(1)

function updateTo(dialect: Dialect, path: string, contactName: string): HttpRequest {
  return { method: dialect.updateMethod, path, body: { contactName } }
}

/** Returns a request that updates one field of a row. */
export function updateOf(dialect: Dialect, table: string, index: number): HttpRequest {
  return updateTo(dialect, dialect.item(table, keyOf(index)), `Contact ${nextUpdate()}`)
}

function randomUpdate(dialect: Dialect, table: string, count: number): HttpRequest {
  return updateOf(dialect, table, 1 + Math.floor(Math.random() * count))
}

/** Returns probes of an update, and of one with a value that is too long. */
export function updateProbes(dialect: Dialect, table: string): Probe[] {
  const row = rowOf(table, 42)
  const path = dialect.item(table, row.customerId)
  return [
    {
      request: updateTo(dialect, path, 'Ana Trujillo'),
      status: 200,
      body: dialect.itemBody({ ...row, contactName: 'Ana Trujillo' }),
    },
    { request: updateTo(dialect, path, 'x'.repeat(31)), status: 400 },
  ]
}

/** Returns requests that update one field of a random row. */
export function updates(table: string, count: number): Requests {
  return {
    probes: (dialect) => updateProbes(dialect, table),
    load: (dialect) => () => randomUpdate(dialect, table, count),
  }
}

function insertOf(dialect: Dialect, row: Customer): HttpRequest {
  return { method: 'POST', path: dialect.list('customers'), body: row }
}

/** Returns a scenario in which every n-th request updates a row, and the others read a page. */
function mixed(scenario: Pick<Scenario, 'name' | 'title' | 'goals'>, every: number, table: Table) {
  return {
    ...scenario,
    servers: [...bothServers, floor, constant],
    probes: (dialect) => [pageProbe(dialect, 'customers')],
    load: (dialect) => {
      const next = turns(1, every)
      return () =>
        next() === every
          ? randomUpdate(dialect, table, salesTables[table])
          : { method: 'GET', path: dialect.list('customers') }
    },
  } satisfies Scenario
}

export const writes: Scenario[] = [
  mixed(
    {
      name: 'mixed-1',
      title: 'Read a page, and 1 % updates of the same collection',
      goals: keyedGoals(undefined, 2.4),
    },
    100,
    'customers',
  ),
  mixed(
    {
      name: 'mixed-20',
      title: 'Read a page, and 20 % updates of another collection',
      goals: keyedGoals(undefined, 1.7),
    },
    5,
    'clients',
  ),
  {
    name: 'insert',
    title: 'Insert: a row of 10 fields with a new key',
    servers: [...allServers, floor],
    probes: (dialect) => [
      {
        request: insertOf(dialect, added),
        status: dialect.insertStatus,
        body: dialect.itemBody(added),
      },
      {
        request: { method: 'GET', path: dialect.item('customers', added.customerId) },
        status: 200,
        body: dialect.itemBody(added),
      },
      { request: insertOf(dialect, { ...added, companyName: null }), status: 400 },
    ],
    load: (dialect) => () => insertOf(dialect, rowOf('customers', nextRow())),
    goals: [{ own: 'rowgate-keys', of: keyedBaseline, ratio: 1.15, floor }],
  },
  {
    name: 'update',
    title: 'Update: one field of a random row, validated',
    servers: [...allServers, floor],
    ...updates('customers', salesTables.customers),
    goals: [{ own: 'rowgate-keys', of: keyedBaseline, ratio: 1.3, floor }],
  },
]
