import { customer, customers, type Customer } from './customer.ts'
import { tables } from './database.ts'
import type { Dialect } from './dialects.ts'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  body?: unknown
}

/** A request that is sent once before timing; the answer must be this one. */
export interface Probe {
  request: HttpRequest
  status: number
  body?: unknown
  /** What is sent in the place of the server's own key. */
  key?: 'missing' | 'unknown'
}

/** How many times the requests a second of `of` the library is meant to reach, in the server `own`. */
export interface RateGoal {
  /** Default: `rowgate`. With it, the two are a pair: their ratios are to each other. */
  own?: string
  of: string
  ratio: number
}

/** How many microseconds of processor time a request of `by` may take beyond one of the library. */
export interface CostGoal {
  by: string
  microseconds: number
}

export type Goal = RateGoal | CostGoal

export interface Scenario {
  name: string
  title: string
  connections: number
  /** Whether only the contestants that name it take part, since each request has an API key. */
  keys?: boolean
  probes(dialect: Dialect): Probe[]
  /** Either one request for every turn, or a function that makes the next one. */
  load(dialect: Dialect): HttpRequest | (() => HttpRequest)
  goals: Goal[]
}

function readPage(dialect: Dialect): Probe {
  return {
    request: { method: 'GET', path: dialect.list('customers') },
    status: 200,
    body: dialect.pageBody(rows.slice(0, 10), rows.length),
  }
}

const withoutCredentials = {
  status: 401,
  body: { message: 'Valid credentials are required.', validations: [], status: 401 },
}

function updateOf(dialect: Dialect, row: Customer, contactName: string): HttpRequest {
  const path = dialect.item('customers', row.customerId)
  return { method: dialect.updateMethod, path, body: { contactName } }
}

function insertOf(dialect: Dialect, row: Customer): HttpRequest {
  return { method: 'POST', path: dialect.list('customers'), body: row }
}

function numbersFrom(first: number): () => number {
  let next = first
  return () => next++
}

const rows = customers(tables.customers)
const clients = customers(tables.clients)
const example = customer(42)
const added = customer(1_000_000)
const nextRow = numbersFrom(1_000_001)
const nextUpdate = numbersFrom(1)

function randomRow(): Customer {
  return rows[Math.floor(Math.random() * rows.length)] as Customer
}

export const scenarios: Scenario[] = [
  {
    name: 'read-page',
    title: 'Read a page: 10 of 91 rows, 4 fields',
    connections: 32,
    probes: (dialect) => [readPage(dialect)],
    load: (dialect) => ({ method: 'GET', path: dialect.list('customers') }),
    goals: [
      { of: 'node-http', ratio: 1.3 },
      { of: 'feathers', ratio: 3.5 },
      { by: 'rowgate-keys', microseconds: 3 },
      { by: 'rowgate-keys-read', microseconds: 3 },
    ],
  },
  {
    name: 'read-100',
    title: 'Read a page of 100: `$limit=100` of 1,000 rows, 4 fields',
    connections: 32,
    probes: (dialect) => [
      {
        request: { method: 'GET', path: dialect.list('clients', 100) },
        status: 200,
        body: dialect.pageBody(clients.slice(0, 100), clients.length),
      },
    ],
    load: (dialect) => ({ method: 'GET', path: dialect.list('clients', 100) }),
    goals: [{ of: 'node-http', ratio: 1.7 }],
  },
  {
    name: 'read-item',
    title: 'Read an item by its key: all 10 fields',
    connections: 32,
    probes: (dialect) => [
      {
        request: { method: 'GET', path: dialect.item('customers', example.customerId) },
        status: 200,
        body: dialect.itemBody(example),
      },
      { request: { method: 'GET', path: dialect.item('customers', 'C99999999') }, status: 404 },
    ],
    load: (dialect) => ({
      method: 'GET',
      path: dialect.item('customers', example.customerId),
    }),
    goals: [],
  },
  {
    name: 'insert',
    title: 'Insert: a row of 10 fields with a new key',
    connections: 32,
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
    load: (dialect) => () => insertOf(dialect, customer(nextRow())),
    goals: [{ of: 'node-http', ratio: 1 }],
  },
  {
    name: 'update',
    title: 'Update: one field of a random row, validated',
    connections: 32,
    probes: (dialect) => [
      {
        request: updateOf(dialect, example, 'Ana Trujillo'),
        status: 200,
        body: dialect.itemBody({ ...example, contactName: 'Ana Trujillo' }),
      },
      { request: updateOf(dialect, example, 'x'.repeat(31)), status: 400 },
    ],
    load: (dialect) => () => updateOf(dialect, randomRow(), `Contact ${nextUpdate()}`),
    goals: [],
  },
  {
    name: 'bindings',
    title: 'Bindings: read a page with an API key, 10 of 91 rows, 4 fields',
    connections: 32,
    keys: true,
    probes: (dialect) => [
      readPage(dialect),
      { ...readPage(dialect), ...withoutCredentials, key: 'missing' },
      { ...readPage(dialect), ...withoutCredentials, key: 'unknown' },
    ],
    load: (dialect) => ({ method: 'GET', path: dialect.list('customers') }),
    goals: [
      { own: 'rowgate-keys', of: 'node-http-keys', ratio: 1.25 },
      { own: 'rowgate-fastify', of: 'fastify-keys', ratio: 1.25 },
      { own: 'rowgate-express', of: 'express-keys', ratio: 1.4 },
      { own: 'rowgate-hono', of: 'hono-keys', ratio: 1 },
    ],
  },
]
