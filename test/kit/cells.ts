import { createServer, type Agent } from 'node:http'
import { toExpressHandler } from '../../src/entries/express.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import type { Answer, Request } from './http-client.ts'
import { isMatrix, localStorages, memory, remoteStorages, type Storage } from './storages.ts'
import { releases, startExpress } from './express-app.ts'
import { startFastify } from './fastify-app.ts'
import { honoAnswers, startHono } from './hono-app.ts'
import { openServer } from './server.ts'

/** A service behind a socket. */
export interface Host {
  readonly port: number
  /** How requests reach the service, if it is not straight through the port. */
  send?(agent: Agent, request: Request): Promise<Answer>
  close(): Promise<void>
}

/** A way to put a service on a socket. */
export interface Binding {
  readonly name: string
  start(service: RequestHandler): Promise<Host>
  /** Whether it is an older release of a server that is also tested in its latest one. Default false. */
  readonly isPrevious?: boolean
  /** Requests that never reach the service, whatever the settings of the server. Default: none. */
  readonly hostAnswers?: readonly HostAnswer[]
}

/** A target that a server changes or responds to itself, so that the response differs from other servers. */
export interface HostAnswer {
  readonly target: string
  /** What a GET is answered with. */
  readonly status: number
  readonly reason: string
}

/** Every way into a service. A new binding is one more row. */
export const bindings: readonly Binding[] = [
  { name: 'node', start: startNode },
  ...releases.map(({ express, ...release }): Binding => ({
    ...release,
    start: (service) => startExpress(express, toExpressHandler(service, { outside: 'respond' })),
  })),
  { name: 'fastify', start: startFastify },
  { name: 'fetch (hono)', start: startHono, hostAnswers: honoAnswers },
]

/** One combination of binding and storage. */
export interface Cell {
  readonly name: string
  readonly binding: Binding
  readonly storage: Storage
}

/** Every combination, apart from older releases of servers with storages in database servers, which are slow. */
export const everyCell: readonly Cell[] = bindings.flatMap((binding) =>
  [...localStorages, ...remoteStorages]
    .filter(({ isRemote }) => isRemote !== true || binding.isPrevious !== true)
    .map((storage) => ({ name: `${binding.name}, ${storage.name}`, binding, storage })),
)

/**
 * The combinations of this run. `npm test` takes the storages of this process through the first binding, and every other binding
 * on memory storage, `npm run test:matrix` all others, and its runs with another cache only the first binding.
 */
export let cells: readonly Cell[] = partOf(
  everyCell.filter(({ binding, storage }) => {
    const isFirst = binding === bindings[0]
    if (process.env['CACHE'] !== undefined) return isFirst
    const isUsual = storage.isRemote !== true && (isFirst || storage === memory)
    return isUsual !== isMatrix
  }),
)

/** Returns the part of combinations that the environment names: `0/4` is the first quarter. Default: all. */
function partOf(all: readonly Cell[]): readonly Cell[] {
  const [part = 0, of = 1] = (process.env['MATRIX_PART'] ?? '0/1').split('/').map(Number)
  return all.filter((_, index) => index % of === part)
}

/** Replaces the combinations, before a test file is loaded: `npm run test:openapi` has one of its own. */
export function replaceCells(others: readonly Cell[]): void {
  cells = others
}

/**
 * Returns how many of the runs of a property a cell takes: all of them through the first binding, and the
 * first fifth of them through the others. `npm run test:matrix` takes all.
 */
export function runsOn({ binding }: Cell, runs: number): number {
  return isMatrix || binding === bindings[0] ? runs : Math.ceil(runs / 5)
}

function startNode(service: RequestHandler): Promise<Host> {
  return openServer(createServer(toNodeHandler(service)))
}
