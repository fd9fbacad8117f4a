import type { Contestant } from './contestants.ts'
import { generateLoad, type LoadOptions, type Wire } from './generator.ts'
import { busyTicks, foreignShare } from './machine.ts'
import type { HttpRequest, Scenario } from './scenario.ts'
import type { RunningServer } from './server-process.ts'
import type { Headers } from './servers/announce.ts'

/** What one round of load on one server gave. */
export interface Round {
  responses: number
  perSecond: number
  cpuMicroseconds: number
  p50Milliseconds: number
  p99Milliseconds: number
  rssMegabytes: number
  /** The share of a core that the load generator used. */
  generatorBusy: number
  /** The share of the machine that neither the server nor the load generator used. */
  foreign: number
}

/** Returns the bytes of a request. */
export function wireOf({ method, path, body }: HttpRequest, own: Headers): Wire {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers: Headers = {
    host: 'localhost',
    ...own,
    ...(text && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
}

function nextOf(scenario: Scenario, { dialect }: Contestant, own: Headers): () => Wire {
  const load = scenario.load(dialect)
  if (typeof load === 'function') return () => wireOf(load(), own)
  const wire = wireOf(load, own)
  return () => wire
}

function ownMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Returns the requests after which a server is warm, if it is fast enough to have them in so many seconds. */
export function warmAfter(seconds: number): Required<LoadOptions['until']> {
  return { requests: 20_000 * seconds, seconds: 5 * seconds }
}

/** Puts a server under the load of a scenario. */
export async function loadFor(
  until: LoadOptions['until'],
  server: RunningServer,
  scenario: Scenario,
  contestant: Contestant,
): Promise<Round> {
  const before = await server.usage()
  const ownBefore = ownMicroseconds()
  const ticks = busyTicks()
  const result = await generateLoad({
    port: server.port,
    connections: scenario.connections ?? 32,
    // A database server that is a process of its own needs the other core.
    polls: server.pinned && contestant.database === undefined,
    until,
    next: nextOf(scenario, contestant, server.headers),
  }).catch((error: unknown) => {
    throw new Error(`${contestant.name} failed under the load of ${scenario.name}.`, {
      cause: error,
    })
  })
  const own = ownMicroseconds() - ownBefore
  const after = await server.usage()
  const cpu = after.cpuMicroseconds - before.cpuMicroseconds
  return {
    responses: result.responses,
    perSecond: result.responses / result.seconds,
    cpuMicroseconds: cpu / result.responses,
    p50Milliseconds: result.p50Milliseconds,
    p99Milliseconds: result.p99Milliseconds,
    rssMegabytes: after.rssBytes / 1024 / 1024,
    generatorBusy: result.busy ?? own / 1e6 / result.seconds,
    foreign: foreignShare(ticks, busyTicks(), (own + cpu) / 1e6),
  }
}
