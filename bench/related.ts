import { isDeepStrictEqual } from 'node:util'
import { programOf } from './build.ts'
import { databaseNames, databaseTime, type DatabaseTime, type Kind } from './database-time.ts'
import type { Figures } from './figures.ts'
import { generateLoad } from './generator.ts'
import { warmAfter, wireOf } from './load.ts'
import type { Surroundings } from './measure.ts'
import { emptyDatabase } from './operators.ts'
import { table } from './report.ts'
import { turns } from './scenario.ts'
import { startServer, type RunningServer } from './server-process.ts'
import { median, spread } from './statistics.ts'

const orderCount = 20_000
const sizes = [10, 100] as const
const prefix = '/rest/v1/sales/'

interface Way {
  title: string
  /** What the server does: rowgate, or statements by hand. */
  server: 'service' | 'one' | 'three'
  asks: 'alone' | 'expand' | 'each'
}

const ways: readonly Way[] = [
  { title: 'by hand, API key, one statement', server: 'one', asks: 'expand' },
  { title: 'by hand, API key, three statements', server: 'three', asks: 'expand' },
  { title: 'by hand, API key, without related items', server: 'one', asks: 'alone' },
  { title: 'rowgate, API key, `$expand=customer,lines`', server: 'service', asks: 'expand' },
  { title: 'rowgate, API key, a request for each item', server: 'service', asks: 'each' },
  { title: 'rowgate, API key, without related items', server: 'service', asks: 'alone' },
]

interface Running {
  server: RunningServer
  time: DatabaseTime
}

type Costs = Readonly<Record<'server' | 'database', number[]>>

/** Returns the next request of a way, and how many of them are a page. */
function requestsOf({ asks }: Way, size: number): { next: () => string; each: number } {
  const nextPage = turns(0)
  const first = () => 1 + ((nextPage() * 7919) % (orderCount - size))
  const page = (from: number, rest = '') => `orders?orderId.gte=${from}&$limit=${size}${rest}`
  if (asks === 'alone') return { next: () => page(first()), each: 1 }
  if (asks === 'expand') return { next: () => page(first(), '&$expand=customer,lines'), each: 1 }
  const each = 1 + 2 * size
  const nextTurn = turns(0)
  let from = 1
  return {
    each,
    next() {
      const turn = nextTurn() % each
      if (turn === 0) return page((from = first()))
      const order = from + Math.floor((turn - 1) / 2)
      return turn % 2 === 1
        ? `customers/${((order * 7) % 1000) + 1}`
        : `lines?orderId=${order}&$limit=10`
    },
  }
}

async function itemsOf({ url, headers }: RunningServer, path: string): Promise<unknown> {
  const response = await fetch(url + prefix + path, { headers })
  const { items } = (await response.json()) as { items?: unknown }
  return items
}

/** Checks that all servers respond with the same items. */
async function checkItems(running: ReadonlyMap<Way['server'], Running>): Promise<void> {
  const [first, ...others] = await Promise.all(
    Array.from(running.values(), ({ server }) =>
      itemsOf(server, 'orders?orderId.gte=17&$limit=3&$expand=customer,lines'),
    ),
  )
  if (!Array.isArray(first) || first.length !== 3) throw new Error('A page has no items.')
  for (const one of others)
    if (!isDeepStrictEqual(first, one))
      throw new Error(`Two servers respond differently: ${JSON.stringify([first, one])}`)
}

async function costOf(
  { server, time }: Running,
  way: Way,
  { size, until }: { size: number; until: { seconds?: number; requests?: number } },
): Promise<{ server: number; database: number }> {
  const { next, each } = requestsOf(way, size)
  const before = [(await server.usage()).cpuMicroseconds, await time.microseconds()] as const
  const { responses } = await generateLoad({
    port: server.port,
    connections: 4,
    until,
    next: () => wireOf({ method: 'GET', path: prefix + next() }, server.headers),
  })
  const after = [(await server.usage()).cpuMicroseconds, await time.microseconds()] as const
  const pages = responses / each
  return { server: (after[0] - before[0]) / pages, database: (after[1] - before[1]) / pages }
}

async function start(kind: Kind, way: Way['server'], pinned: boolean): Promise<Running> {
  const database = await emptyDatabase(kind)
  const server = await startServer(programOf('related'), {
    database,
    tables: [kind, way],
    pinned,
  })
  return { server, time: await databaseTime(kind, database.place) }
}

async function measureAll(
  running: ReadonlyMap<Way['server'], Running>,
  size: number,
  { options, machine }: Surroundings,
): Promise<ReadonlyMap<Way, Costs>> {
  const costs = new Map<Way, Costs>(ways.map((way) => [way, { server: [], database: [] }]))
  for (const way of ways)
    await costOf(running.get(way.server) as Running, way, {
      size,
      until: warmAfter(options.warmUpSeconds / 4),
    })
  for (let round = 1; round <= options.rounds; round++) {
    await machine.wait()
    for (const way of round % 2 ? ways : ways.toReversed()) {
      const one = running.get(way.server) as Running
      const until = { seconds: options.seconds }
      const { server, database } = await costOf(one, way, { size, until })
      costs.get(way)?.server.push(server)
      costs.get(way)?.database.push(database)
      console.log(`${size} ${server.toFixed(0)} + ${database.toFixed(0)} µs ${way.title}`)
    }
  }
  return costs
}

function rowsOf(costs: ReadonlyMap<Way, Costs>): string[][] {
  const totals = ({ server, database }: Costs) =>
    server.map((cost, round) => cost + (database[round] ?? NaN))
  const [base = []] = Array.from(costs.values(), totals)
  return Array.from(costs, ([{ title }, own]) => {
    const ratios = totals(own).map((cost, round) => (base[round] ?? NaN) / cost)
    return [
      title,
      median(own.server).toFixed(0),
      median(own.database).toFixed(0),
      median(ratios).toFixed(2),
      spread(ratios),
    ]
  })
}

async function sectionOf(kind: Kind, surroundings: Surroundings): Promise<string[]> {
  const running = new Map<Way['server'], Running>()
  try {
    for (const way of ['service', 'one', 'three'] as const)
      running.set(way, await start(kind, way, surroundings.pinned))
    await checkItems(running)
    const lines: string[] = []
    for (const size of sizes) {
      const rows = rowsOf(await measureAll(running, size, surroundings))
      const head = [`a page of ${size}`, 'server µs', 'database µs', 'ratio', 'spread']
      lines.push(
        `#### ${databaseNames[kind]}, a page of ${size}`,
        '',
        ...table([head, ...rows]),
        '',
      )
    }
    return lines
  } finally {
    for (const { server, time } of running.values()) {
      await time.close()
      await server.stop()
    }
  }
}

/** Measures pages with a related item and a list for each, in one request and in many. */
export function relatedOn(kinds: readonly Kind[]): Figures {
  return {
    name: 'related',
    programs: ['related'],
    async measure(surroundings) {
      const sections: string[][] = []
      for (const kind of kinds) sections.push(await sectionOf(kind, surroundings))
      return [
        '### Related items: a customer and five lines of each order; processor time of a page',
        '',
        ...sections.flat(),
        'A ratio is the time of the statement by hand by this one, of server and database: above 1 is cheaper.',
        'Goal: `$expand` 1.00 × by hand, API key, one statement.',
      ].join('\n')
    },
  }
}
