import { randomUUID } from 'node:crypto'
import { programOf } from './build.ts'
import { keyOf, type Customer } from './customer.ts'
import { createDatabase, rowOf, salesTables } from './database.ts'
import { envelope } from './dialects.ts'
import { generateLoad, type LoadOptions, type Wire } from './generator.ts'
import { warmAfter, wireOf } from './load.ts'
import type { Surroundings } from './measure.ts'
import { table } from './report.ts'
import { turns, type HttpRequest } from './scenario.ts'
import { databaseFileOf, startServer, type RunningServer } from './server-process.ts'
import type { Headers } from './servers/announce.ts'
import type { Guard } from './servers/guards.ts'
import { median } from './statistics.ts'

/** The program of a service whose writes are protected in some way. */
export const guards = 'guards'

const operations = ['item', 'page', 'insert', 'update'] as const
type Operation = (typeof operations)[number]

/** A service and what is sent to it, beside the one that its processor time is compared with. */
interface Variant {
  title: string
  guard: Guard
  operations: readonly Operation[]
  /** What the requests send: the tag of the item, or a key each. */
  sends?: 'tags' | 'keys'
  /** The variant that it is compared with. Default: the first. */
  base?: Variant
}

const writes = ['insert', 'update'] as const
const reading: Variant = {
  title: 'a handler that reads another item',
  guard: 'reads',
  operations: writes,
}
const bare: Variant = { title: 'none: CPU µs', guard: 'none', operations }
const variants: readonly Variant[] = [
  bare,
  {
    title: "`concurrency: { ifMatch: 'optional' }`, no header sent",
    guard: 'tags',
    operations,
  },
  {
    title: 'the same, `If-Match` sent',
    guard: 'tags',
    operations: ['update'],
    sends: 'tags',
  },
  { title: '`idempotencyKeys`, no header sent', guard: 'keys', operations },
  {
    title: 'the same, `Idempotency-Key` sent',
    guard: 'keys',
    operations: writes,
    sends: 'keys',
  },
  reading,
  {
    title: 'the same with `lock: true`, beside that handler',
    guard: 'locks',
    operations: writes,
    base: reading,
  },
]

type Load = Record<Operation, () => Wire>

interface Running {
  variant: Variant
  server: RunningServer
  load: Load
  /** The microseconds of a request in each round. */
  costs: Record<Operation, number[]>
}

const rows = salesTables.clients
const names = ['Contact A', 'Contact B'] as const

function updateTo(index: number, contactName: string): HttpRequest {
  return { method: 'POST', path: envelope.item('clients', keyOf(index)), body: { contactName } }
}

/** Updates each row to both names, and returns the tags that it has then: by row, of the first name and of the second. */
async function tagsOf({ url }: RunningServer): Promise<string[][]> {
  const tagAfter = async ({ method, path, body }: HttpRequest): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    await response.arrayBuffer()
    const tag = response.headers.get('etag')
    if (tag === null) throw new Error(`${path} responded ${response.status} without a tag.`)
    return tag
  }
  const tags: string[][] = [[]]
  for (let index = 1; index <= rows; index++) {
    const second = await tagAfter(updateTo(index, names[1]))
    tags.push([await tagAfter(updateTo(index, names[0])), second])
  }
  return tags
}

/**
 * Returns the requests of a variant. All update the rows in turn, to one name and then to the other, so that a client
 * would know the tag that a row has.
 */
async function loadOf({ sends }: Variant, server: RunningServer): Promise<Load> {
  const tags = sends === 'tags' ? await tagsOf(server) : []
  const [nextRow, nextNew, nextUpdate] = [turns(1, rows), turns(1_000_001), turns(0)]
  const wire = (request: HttpRequest, headers: Headers = {}): Wire =>
    wireOf(request, sends === 'keys' ? { 'idempotency-key': randomUUID() } : headers)
  return {
    item: () => wire({ method: 'GET', path: envelope.item('clients', keyOf(nextRow())) }),
    page: () => wire({ method: 'GET', path: envelope.list('clients') }),
    insert() {
      const body: Customer = rowOf('clients', nextNew())
      return wire({ method: 'POST', path: envelope.list('clients'), body })
    },
    update() {
      const number = nextUpdate()
      const index = 1 + (number % rows)
      const former = Math.floor(number / rows) % 2
      const tag = tags[index]?.[former]
      return wire(updateTo(index, names[1 - former] ?? ''), tag ? { 'if-match': tag } : {})
    },
  }
}

async function start(variant: Variant, pinned: boolean): Promise<Running> {
  const database = databaseFileOf(salesTables, createDatabase)
  const server = await startServer(programOf(guards), { database, tables: [variant.guard], pinned })
  const load = await loadOf(variant, server)
  return { variant, server, load, costs: { item: [], page: [], insert: [], update: [] } }
}

async function costOf(
  { server, load }: Running,
  operation: Operation,
  until: LoadOptions['until'],
): Promise<number> {
  const before = await server.usage()
  const { port, pinned: polls } = server
  const next = load[operation]
  const { responses } = await generateLoad({
    port,
    connections: 32,
    polls,
    until,
    next,
  })
  const after = await server.usage()
  return (after.cpuMicroseconds - before.cpuMicroseconds) / responses
}

async function runAll(
  operation: Operation,
  running: readonly Running[],
  { options, machine }: Surroundings,
): Promise<void> {
  const taking = running.filter(({ variant }) => variant.operations.includes(operation))
  for (const one of taking) await costOf(one, operation, warmAfter(options.warmUpSeconds))
  for (let round = 1; round <= options.rounds; round++) {
    await machine.wait()
    for (const one of round % 2 ? taking : taking.toReversed()) {
      const cost = await costOf(one, operation, { seconds: options.seconds })
      one.costs[operation].push(cost)
      console.log(`${operation.padEnd(6)} ${cost.toFixed(1).padStart(7)} µs ${one.variant.title}`)
    }
  }
}

function cellOf(running: readonly Running[], own: Running, operation: Operation): string {
  const { variant, costs } = own
  if (!variant.operations.includes(operation)) return ''
  if (variant === bare) return median(costs[operation]).toFixed(1)
  const base = running.find((one) => one.variant === (variant.base ?? bare))
  const ratios = costs[operation].map(
    (cost, round) => cost / (base?.costs[operation][round] ?? NaN),
  )
  return `${median(ratios).toFixed(2)} ×`
}

/** Measures what protects writes, switched on and used, beside the same service without it, on SQLite. */
export async function measureGuards(surroundings: Surroundings): Promise<string> {
  const running: Running[] = []
  try {
    for (const variant of variants) running.push(await start(variant, surroundings.pinned))
    for (const operation of operations) await runAll(operation, running, surroundings)
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()))
  }
  const lines = running.map((one) => [
    one.variant.title,
    ...operations.map((operation) => cellOf(running, one, operation)),
  ])
  return [
    '### What protects writes: processor time of a request, on SQLite, by that of the service without it',
    '',
    ...table([['what', ...operations], ...lines]),
    '',
    'Above 1 × costs more.',
  ].join('\n')
}
