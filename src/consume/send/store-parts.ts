import type { EndpointResponse } from '../call.ts'
import {
  joinTables,
  repeated,
  storeItems,
  withTables,
  type ActingUser,
  type MakeTables,
  type TargetCollections,
} from '../rules/apply-rules.ts'
import type { Caller } from '../rules/caller.ts'
import type { Rule } from '../rules/rule.ts'
import type { RuleResult } from '../rules/write-items.ts'
import type { FlattenOptions } from '../tables/flatten.ts'
import type { ResponseReader } from '../tables/read-tables.ts'

/** What a success handler receives, in the transaction in which the rules have stored their items. */
export interface Success<Within extends TargetCollections, Response, Row> {
  /** Reads a field of the row that was sent. */
  readonly caller: Caller<Row>
  /** The response as tables. */
  readonly tables: ResponseReader<Response>
  readonly response: EndpointResponse<Response>
  /** The position of the row among the rows that were sent, from 0. */
  readonly index: number
  /** What the rules have stored. */
  readonly results: readonly RuleResult[]
  /** Returns a collection within the transaction. */
  readonly collection: Within['collection']
}

/** What a failure handler receives, in a transaction of its own. */
export interface Failure<Within extends TargetCollections, Response, Row> {
  /** Reads a field of the row that was sent. */
  readonly caller: Caller<Row>
  /**
   * Why nothing was stored: a CallError if the call failed, else an error of the tables, the rules, the
   * success handler or storage.
   */
  readonly error: unknown
  /** The response; null if there was none. */
  readonly response: EndpointResponse<Response> | null
  /** The position of the row among the rows that were sent, from 0. */
  readonly index: number
  /** Returns a collection within the transaction. */
  readonly collection: Within['collection']
}

/** How responses are stored. */
export interface StoreOptions<Response, Row> {
  /** The rules that store items of each response, in this order. Default: none. */
  readonly rules?: readonly Rule<Response, Row>[]
  /** How responses are read as tables. */
  readonly tables?: FlattenOptions
  /** How long a transaction may take, in milliseconds. Default: the `handlerTimeout` of the service. */
  readonly timeout?: number
}

/** What became of a row that was sent. */
export type SendResult =
  | { readonly index: number; readonly status: 'stored'; readonly results: readonly RuleResult[] }
  | { readonly index: number; readonly status: 'failed'; readonly error: unknown }

/** A part of a response, and what it belongs to. */
export interface Part {
  readonly tables: MakeTables
  readonly caller: Caller
  /** What the success handler receives besides the tables, the results and the collections. */
  readonly context: object
}

/** What is done with each part of a response. */
export interface PartSteps {
  readonly rules: readonly Rule[]
  readonly timeout: number | undefined
  readonly onSuccess: ((at: never) => void | Promise<void>) | undefined
}

/** Stores parts of a response in one transaction: for each part the rules, then the handler. */
export async function storeParts(
  user: ActingUser,
  { rules, timeout, onSuccess }: PartSteps,
  parts: readonly Part[],
): Promise<readonly (readonly RuleResult[])[]> {
  // Joining needs no transaction, so that writers do not wait for it.
  const joined = parts.map((part) => ({
    ...part,
    items: joinTables(rules, part.tables, part.caller),
  }))
  return user.transaction(async (within) => {
    const all: (readonly RuleResult[])[] = []
    for (const { tables, context, items } of joined) {
      const results = await storeItems(items, within)
      all.push(results)
      const seen = { ...context, results, collection: within.collection }
      await onSuccess?.(withTables(seen, tables) as never)
    }
    return all
  }, repeated(timeout))
}
