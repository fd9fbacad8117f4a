import type { Customer } from '../customer.ts'
import { rowOf, rowsOf, salesTables } from '../database.ts'
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
  type Scenario,
} from '../scenario.ts'
import { pageProbe } from './reads.ts'

type Table = keyof typeof salesTables

const rows = {
  customers: rowsOf('customers', salesTables.customers),
  clients: rowsOf('clients', salesTables.clients),
}
const example = rowOf('customers', 42)
const added = rowOf('customers', 1_000_000)
const nextRow = turns(1_000_001)
const nextUpdate = turns(1)

function updateOf(dialect: Dialect, table: Table, row: Customer, contactName: string): HttpRequest {
  const path = dialect.item(table, row.customerId)
  return { method: dialect.updateMethod, path, body: { contactName } }
}

function insertOf(dialect: Dialect, row: Customer): HttpRequest {
  return { method: 'POST', path: dialect.list('customers'), body: row }
}

function randomUpdate(dialect: Dialect, table: Table): HttpRequest {
  const list = rows[table]
  const row = list[Math.floor(Math.random() * list.length)] as Customer
  return updateOf(dialect, table, row, `Contact ${nextUpdate()}`)
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
          ? randomUpdate(dialect, table)
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
    probes: (dialect) => [
      {
        request: updateOf(dialect, 'customers', example, 'Ana Trujillo'),
        status: 200,
        body: dialect.itemBody({ ...example, contactName: 'Ana Trujillo' }),
      },
      { request: updateOf(dialect, 'customers', example, 'x'.repeat(31)), status: 400 },
    ],
    load: (dialect) => () => randomUpdate(dialect, 'customers'),
    goals: [{ own: 'rowgate-keys', of: keyedBaseline, ratio: 1.3, floor }],
  },
]
