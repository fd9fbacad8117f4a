import type { Dialect } from './dialects.ts'
import type { Tables } from './database.ts'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  body?: unknown
}

/** A request that is sent once before timing; the response must be this one. */
export interface Probe {
  request: HttpRequest
  status: number
  body?: unknown
  /** What is sent instead of the server's own key. */
  key?: 'missing' | 'unknown'
}

/** How many times less processor time than `of` a request of `own` is meant to take. */
export interface RatioGoal {
  own: string
  of: string
  ratio: number
  /** The server that does only what `own` can't avoid. */
  floor?: string
}

/** How many microseconds of processor time `own` may take, or may take beyond `of`. */
export interface CostGoal {
  own: string
  of?: string
  microseconds: number
}

/** How many times the time of `of` a request of `own` may take at most, at a percentile. */
export interface LatencyGoal {
  own: string
  of: string
  percentile: 50 | 99
  factor: number
}

export type Goal = RatioGoal | CostGoal | LatencyGoal

export interface Scenario {
  name: string
  title: string
  /** The tables of the database. Default: those of `salesTables`. */
  tables?: Tables
  /** The servers that take part, by name. */
  servers: readonly string[]
  /** Requests at the same time. Default 32. */
  connections?: number
  probes(dialect: Dialect): Probe[]
  /** Returns one request for every turn, or a function that returns the next one. */
  load(dialect: Dialect): HttpRequest | (() => HttpRequest)
  goals: readonly Goal[]
}

/** The hand-written server that the goals are set against: an API key is checked in each request. */
export const keyedBaseline = 'node-http-keys'

/** What a read, and a write, costs at least. */
export const floor = 'node-http-floor'
/** What a read costs at least if its response is kept. */
export const constant = 'node-http-constant'

/** The servers that take part in most scenarios. */
export const allServers = [
  'rowgate',
  'rowgate-keys',
  'rowgate-keys-uncached',
  'node-http',
  keyedBaseline,
  'fastify',
  'express',
  'feathers',
]

/** The two ends of the comparison, with and without keys. */
export const bothServers = allServers.slice(0, 5)

/** Returns goals for a read with an API key: without the response cache, and with it. */
export function keyedGoals(ratio?: number, cached?: number): RatioGoal[] {
  return [
    ...(ratio === undefined
      ? []
      : [{ own: 'rowgate-keys-uncached', of: keyedBaseline, ratio, floor }]),
    ...(cached === undefined
      ? []
      : [{ own: 'rowgate-keys', of: keyedBaseline, ratio: cached, floor: constant }]),
  ]
}

/** Returns a function that returns the numbers from `first` to `last` again and again. */
export function turns(first: number, last = Infinity): () => number {
  let next = first
  return () => {
    const number = next
    next = number >= last ? first : number + 1
    return number
  }
}
