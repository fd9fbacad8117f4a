import { Agent, get } from 'node:http'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { programOf } from './build.ts'
import { archive, createDatabase, rowOf } from './database.ts'
import { envelope } from './dialects.ts'
import type { Figures } from './figures.ts'
import { table } from './report.ts'
import { turns } from './scenario.ts'
import { databaseFileOf, startServer, type RunningServer } from './server-process.ts'
import { quantile } from './statistics.ts'

// A cached response of a search would not read the rows.
const servers = ['rowgate-keys-uncached', 'node-http-keys']
const tables = { [archive]: 1_000_000 }
const itemsPerSecond = 200
const goal = 8

/** Sends a GET and returns the milliseconds from when it was due to the end of its response. */
async function respondAfter(
  { url, headers }: RunningServer,
  agent: Agent,
  { path, due }: { path: string; due: number },
): Promise<number> {
  const request = get(url + path, { agent, headers })
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`${path} responded ${response.statusCode}.`)
  return performance.now() - due
}

/**
 * Returns the times of requests that are sent at a steady rate, whether or not earlier ones have been
 * answered, so that a server that stops for a while pays for all that were due.
 */
async function steadily(
  server: RunningServer,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  pathOf: () => string,
): Promise<number[]> {
  // Idle connections are closed long before a server does it, which would reset a request that was just sent.
  const agent = new Agent({ keepAlive: true, timeout: 1_000 })
  const started = performance.now()
  const times: Promise<number>[] = []
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = started + (1000 * index) / perSecond
    await delay(Math.max(0, due - performance.now()))
    const time = respondAfter(server, agent, { path: pathOf(), due })
    time.catch(() => undefined)
    times.push(time)
  }
  try {
    return await Promise.all(times)
  } finally {
    agent.destroy()
  }
}

/** Measures items at 200 a second, first alone and then beside one search of all rows a second. */
async function rowsFor(name: string, seconds: number, pinned: boolean): Promise<string[][]> {
  const database = databaseFileOf(tables, createDatabase)
  const server = await startServer(programOf(name), {
    database,
    tables: Object.keys(tables),
    pinned,
  })
  const nextItem = turns(1, 1_000_000)
  const item = () =>
    envelope.item(archive, rowOf(archive, ((nextItem() * 997) % 1_000_000) + 1).customerId)
  // No row contains it, so that each search reads all rows.
  const scan = () => `${envelope.list(archive)}?$q=nowhere`
  try {
    const load = { perSecond: itemsPerSecond, seconds }
    const milliseconds = (times: number[], share: number) => quantile(times, share).toFixed(1)
    const alone = await steadily(server, load, item)
    const [beside, scans] = await Promise.all([
      steadily(server, load, item),
      steadily(server, { perSecond: 1, seconds }, scan),
    ])
    const rowOfTimes = (title: string, times: number[]) => [
      title,
      milliseconds(times, 0.5),
      milliseconds(times, 0.99),
    ]
    return [
      rowOfTimes(`${name}: items alone`, alone),
      rowOfTimes(`${name}: items beside scans`, beside),
      rowOfTimes(`${name}: the scans`, scans),
    ]
  } finally {
    await server.stop()
  }
}

export const besideScan: Figures = {
  name: 'beside-scan',
  programs: servers,
  async measure({ options, pinned, machine }) {
    const rows: string[][] = []
    for (const name of servers) {
      await machine.wait()
      rows.push(...(await rowsFor(name, options.rounds * options.seconds, pinned)))
    }
    return [
      '### Items at 200 a second beside one `$q` over a million rows a second',
      '',
      ...table([['requests', 'median ms', 'p99 ms'], ...rows]),
      '',
      `Goal: p99 of the items of rowgate-keys-uncached beside scans at most ${goal} ms.`,
    ].join('\n')
  },
}
