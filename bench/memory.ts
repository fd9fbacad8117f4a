import { programOf } from './build.ts'
import { createDatabase, salesTables } from './database.ts'
import { envelope } from './dialects.ts'
import type { Figures } from './figures.ts'
import { generateLoad } from './generator.ts'
import { wireOf } from './load.ts'
import { table } from './report.ts'
import { turns, type HttpRequest } from './scenario.ts'
import { reads } from './scenarios/reads.ts'
import { databaseFileOf, startServer } from './server-process.ts'
import type { Usage } from './servers/announce.ts'

const servers = ['rowgate-keys', 'node-http-keys']
const mixed = ['read-page', 'read-pages', 'read-items']
const [firstRequests, allRequests] = [20_000, 200_000]

/** Returns a function that returns pages, distinct pages and distinct items in turn. */
function nextRequest(): () => HttpRequest {
  const loads = reads.filter(({ name }) => mixed.includes(name)).map(({ load }) => load(envelope))
  const turn = turns(0, loads.length - 1)
  return () => {
    const load = loads[turn()] as (typeof loads)[number]
    return typeof load === 'function' ? load() : load
  }
}

async function usagesOf(name: string, pinned: boolean): Promise<Usage[]> {
  const database = databaseFileOf(salesTables, createDatabase)
  const server = await startServer(programOf(name), {
    database,
    tables: Object.keys(salesTables),
    pinned,
  })
  try {
    const usages: Usage[] = []
    const request = nextRequest()
    const next = () => wireOf(request(), server.headers)
    for (const requests of [firstRequests, allRequests - firstRequests]) {
      await generateLoad({ port: server.port, connections: 32, until: { requests }, next })
      usages.push(await server.collect())
    }
    return usages
  } finally {
    await server.stop()
  }
}

/** Measures the memory after many requests: pages, distinct pages and distinct items in turn. */
export const memory: Figures = {
  name: 'memory',
  programs: servers,
  async measure({ pinned }) {
    const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
    const rows: string[][] = []
    for (const name of servers) {
      const usages = await usagesOf(name, pinned)
      rows.push([
        name,
        ...usages.flatMap(({ heapBytes, rssBytes }) => [megabytes(heapBytes), megabytes(rssBytes)]),
      ])
    }
    const [first, all] = [firstRequests, allRequests].map((count) => count.toLocaleString('en'))
    const headings = [`heap MB after ${first}`, 'RSS MB', `heap MB after ${all} requests`, 'RSS MB']
    return [
      '### Memory: pages, 10,000 distinct pages and 1,000 distinct items in turn',
      '',
      ...table([['server', ...headings], ...rows]),
      '',
      'The heap is what a garbage collection leaves.',
    ].join('\n')
  },
}
