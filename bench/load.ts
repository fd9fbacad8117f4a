import autocannon from 'autocannon'
import type { Contestant } from './contestants.ts'
import type { Dialect } from './dialects.ts'
import type { HttpRequest, Scenario } from './scenarios.ts'
import type { RunningServer } from './server-process.ts'
import type { Headers } from './servers/announce.ts'

/** What one round of load on one server gave. */
export interface Round {
  perSecond: number
  cpuMicroseconds: number
  p99Milliseconds: number
  rssMegabytes: number
  generatorBusy: number
}

function wireOf(request: HttpRequest, own: Headers): autocannon.Request {
  const { method, path } = request
  if (request.body === undefined) return { method, path, headers: { ...own } }
  const headers = { ...own, 'content-type': 'application/json' }
  return { method, path, body: JSON.stringify(request.body), headers }
}

function requestsOf(scenario: Scenario, dialect: Dialect, own: Headers): autocannon.Request[] {
  const load = scenario.load(dialect)
  if (typeof load !== 'function') return [wireOf(load, own)]
  return [{ setupRequest: (request) => ({ ...request, ...wireOf(load(), own) }) }]
}

function refuseFailures(name: string, result: autocannon.Result): void {
  const { non2xx, errors, timeouts } = result
  if (non2xx + errors + timeouts === 0 && result.requests.total > 0) return
  throw new Error(
    `${name}: ${result.requests.total} answers, ${non2xx} not 2xx, ${errors} errors, ${timeouts} time-outs.`,
  )
}

function busyMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

export async function loadFor(
  seconds: number,
  server: RunningServer,
  scenario: Scenario,
  contestant: Contestant,
): Promise<Round> {
  const before = await server.usage()
  const busyBefore = busyMicroseconds()
  const result = await autocannon({
    url: server.url,
    connections: scenario.connections,
    pipelining: 1,
    duration: seconds,
    sampleInt: 100,
    requests: requestsOf(scenario, contestant.dialect, server.headers),
  })
  const busy = busyMicroseconds() - busyBefore
  const after = await server.usage()
  refuseFailures(contestant.name, result)
  return {
    perSecond: result.requests.total / result.duration,
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / result.requests.total,
    p99Milliseconds: result.latency.p99,
    rssMegabytes: after.rssBytes / 1024 / 1024,
    generatorBusy: busy / 1e6 / result.duration,
  }
}
