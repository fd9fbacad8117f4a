import type { CallOptions, EndpointResponse } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import type { CallerReader } from '../rules/caller-reader.ts'
import type { Rule } from '../rules/rule.ts'
import type { RuleResult } from '../rules/write-items.ts'
import {
  joinResponse,
  repeated,
  storeResponse,
  withPartsKept,
  type ActingUser,
  type MakeTables,
  type TargetCollections,
} from '../store-response.ts'
import type { FlattenOptions } from '../tables/flatten.ts'
import type { ResponseReader } from '../tables/read-tables.ts'

/** What a success handler receives, in the transaction in which the rules have stored their items. */
export interface Success<Within extends TargetCollections, Response, Row> {
  /** Reads a field of the row that was sent. */
  readonly caller: CallerReader<Row>
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
  readonly caller: CallerReader<Row>
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
  readonly caller: CallerReader
  /** What the success handler receives besides the tables, the results and the collections. */
  readonly context: object
}

/** A request, and what happens with its response. */
export interface Sending<Within extends TargetCollections, Input, Response> {
  readonly endpoint: Endpoint<Input, Response>
  readonly input: Input
  readonly call: CallOptions
  readonly rules: readonly Rule[]
  readonly timeout: number | undefined
  /** Returns the parts of the response, which are stored in one transaction. */
  readonly parts: (response: EndpointResponse<Response>) => readonly Part[]
  readonly onSuccess: ((at: never) => void | Promise<void>) | undefined
  /** Called in a transaction of its own, with the response if there was one. */
  readonly onFailure:
    | ((failure: {
        readonly error: unknown
        readonly response: EndpointResponse<Response> | null
        readonly collection: Within['collection']
      }) => void | Promise<void> | undefined)
    | undefined
}

/** What became of a request: the results of each part, or why nothing was stored. */
export type Sent =
  | { readonly status: 'stored'; readonly results: readonly (readonly RuleResult[])[] }
  | { readonly status: 'failed'; readonly error: unknown }

/**
 * Calls an endpoint and stores its response. Rejects if the call fails or the response can't be stored, unless there is a
 * failure handler. It rejects after an abort as well.
 */
export async function sendRequest<Within extends TargetCollections, Input, Response>(
  user: ActingUser<Within>,
  sending: Sending<Within, Input, Response>,
): Promise<Sent> {
  const { endpoint, input, call, timeout, onFailure } = sending
  let response: EndpointResponse<Response> | null = null
  try {
    response = await endpoint.call(input, call)
    return { status: 'stored', results: await storeParts(user, sending, sending.parts(response)) }
  } catch (error) {
    if (onFailure === undefined || call.signal?.aborted === true) throw error
    await user.transaction(
      async ({ collection }) => onFailure({ error, response, collection }),
      repeated(timeout),
    )
    return { status: 'failed', error }
  }
}

/** Stores parts of a response in one transaction: for each part the rules, then the handler. */
function storeParts(
  user: ActingUser,
  {
    rules,
    timeout,
    onSuccess,
  }: Pick<Sending<never, never, never>, 'rules' | 'timeout' | 'onSuccess'>,
  parts: readonly Part[],
): Promise<readonly (readonly RuleResult[])[]> {
  const joined = parts.map(({ context: _context, ...part }) =>
    joinResponse({ ...part, rules, onSuccess }),
  )
  const responses = withPartsKept(joined)
  return user.transaction(async (within) => {
    const { collection } = within
    const all: (readonly RuleResult[])[] = []
    for (const [index, response] of responses.entries())
      all.push(await storeResponse(response, within, { ...parts[index]?.context, collection }))
    return all
  }, repeated(timeout))
}
