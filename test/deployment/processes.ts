import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { programs, type Programs } from '../kit/programs.ts'

/** What a process has to do. */
export interface ProcessOrder {
  /** Stands in its lines of the log. */
  readonly name: string
  /** The database: a file of SQLite, or a schema of PostgreSQL. */
  readonly database: { readonly sqlite: string } | { readonly postgres: string }
  /** Each build that begins is a line: the release, the attempt, and the process. */
  readonly log: string
  readonly lease: number
  /** The one build that it asks for before it ends. Default: it works the queue until it is stopped. */
  readonly build?: 'release' | 'release-queue'
  /** The point at which it kills itself, counted from its request on. */
  readonly killAt?: number
  /** A file that each of its builds waits for. */
  readonly until?: string
  /** Whether the builds block the event loop while they wait. */
  readonly blocks?: boolean
  /** How many milliseconds its clock is wrong. */
  readonly clock?: number
}

/** Makes processes that build startable in the tests of a file. */
export function processes(): Programs<ProcessOrder> {
  return programs(join(import.meta.dirname, 'process-program.ts'))
}

/** The builds that have begun, by release: the attempts, each with the process that made it. */
export function buildsIn(log: string): ReadonlyMap<string, readonly string[]> {
  const builds = new Map<string, string[]>()
  const text = existsSync(log) ? readFileSync(log, 'utf8') : ''
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const [releaseId = '', ...rest] = line.split(' ')
    builds.set(releaseId, [...(builds.get(releaseId) ?? []), rest.join(' ')])
  }
  return builds
}
