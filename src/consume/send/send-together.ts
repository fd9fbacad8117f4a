import { requireKnown } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import type { CallOptions, EndpointResponse } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { callerReader, type CallerReader } from '../rules/caller-reader.ts'
import {
  requireRules,
  tablesOf,
  type ActingUser,
  type TargetCollections,
} from '../store-response.ts'
import type { ResponseTables } from '../tables/table.ts'
import { matchRows, requireMatch, type Match } from './match-rows.ts'
import {
  sendRequest,
  type Failure,
  type Part,
  type SendResult,
  type StoreOptions,
  type Success,
} from './send-request.ts'

interface TogetherOptions<
  Within extends TargetCollections,
  Input,
  Response,
  Row extends object,
> extends StoreOptions<NoInfer<Response>, NoInfer<Row>> {
  /** The rows that are sent in one request. */
  readonly rows: readonly Row[]
  /** Returns the input of the request. */
  readonly input: (rows: readonly NoInfer<Row>[]) => NoInfer<Input>
  /** The options of the call, such as its `idempotencyKey`. */
  readonly call?: CallOptions
  /**
   * Called if the call fails, or its response can't be stored. Without it, `sendTogether` rejects. After a conflict it is
   * called again, as `onSuccess` is.
   */
  readonly onFailure?: NoInfer<(at: FailureOfAll<Within, Response, Row>) => void | Promise<void>>
}

/** What the success handler of a request for several rows receives without `match`. */
export interface SuccessOfAll<Within extends TargetCollections, Response, Row> extends Omit<
  Success<Within, Response, Row>,
  'caller' | 'index'
> {
  /** In the order of the rows. */
  readonly callers: readonly CallerReader<Row>[]
}

/** What the failure handler of a request for several rows receives. */
export interface FailureOfAll<Within extends TargetCollections, Response, Row> extends Omit<
  Failure<Within, Response, Row>,
  'caller' | 'index'
> {
  /** In the order of the rows. */
  readonly callers: readonly CallerReader<Row>[]
}

/** The options of {@link sendTogether} if each row has its part of the response. */
export interface MatchedOptions<
  Within extends TargetCollections,
  Input,
  Response,
  Row extends object,
> extends TogetherOptions<Within, Input, Response, Row> {
  /** How rows of the response belong to the rows that were sent. */
  readonly match: Match<string, NoInfer<keyof Row & string>>
  /**
   * Called for each row with its part of the tables, after the rules for that part. After a conflict with another
   * transaction all of them are repeated, up to 12 times: it must have no other effects.
   */
  readonly onSuccess?: NoInfer<(at: Success<Within, Response, Row>) => void | Promise<void>>
}

/** The options of {@link sendTogether} if the response belongs to all rows. Rules can't use `caller`. */
export interface UnmatchedOptions<
  Within extends TargetCollections,
  Input,
  Response,
  Row extends object,
> extends TogetherOptions<Within, Input, Response, Row> {
  readonly match?: undefined
  /**
   * Called for all rows together, after the rules. After a conflict with another transaction both are repeated, up to 12
   * times: it must have no other effects.
   */
  readonly onSuccess?: NoInfer<(at: SuccessOfAll<Within, Response, Row>) => void | Promise<void>>
}

const known = [
  ...['rows', 'input', 'call', 'match', 'rules', 'tables', 'timeout'],
  ...['onSuccess', 'onFailure'],
]

/**
 * Sends one request for several rows, and stores what the response contains in one transaction: with
 * `match` the part of each row, otherwise the whole response once. Rejects if the call fails or the response
 * can't be stored, unless there is a failure handler.
 */
export function sendTogether<Within extends TargetCollections, Input, Response, Row extends object>(
  user: ActingUser<Within>,
  endpoint: Endpoint<Input, Response>,
  options: MatchedOptions<Within, Input, Response, Row>,
): Promise<readonly SendResult[]>
// With one signature for both, the compiler would not type the parameters of handlers.

export function sendTogether<Within extends TargetCollections, Input, Response, Row extends object>(
  user: ActingUser<Within>,
  endpoint: Endpoint<Input, Response>,
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- one signature for both would leave the parameters of handlers without types
  options: UnmatchedOptions<Within, Input, Response, Row>,
): Promise<readonly SendResult[]>
export async function sendTogether<
  Within extends TargetCollections,
  Input,
  Response,
  Row extends object,
>(
  user: ActingUser<Within>,
  endpoint: Endpoint<Input, Response>,
  options:
    MatchedOptions<Within, Input, Response, Row> | UnmatchedOptions<Within, Input, Response, Row>,
): Promise<readonly SendResult[]> {
  requireKnown('sendTogether', options, known)
  const { rows, input, call = {}, match, rules = [], onSuccess, onFailure, timeout } = options
  // Before anything is sent.
  requireRules(rules)
  if (match !== undefined) requireMatch(match)
  const callers = rows.map((row) => callerReader(row, 'sendTogether'))
  requirePlainObject('The options of the call', call, 'sendTogether')
  const given = input(rows)
  requirePlainObject('The input', given, 'sendTogether')
  const sent = await sendRequest(user, {
    ...{ endpoint, input: given, call, rules, timeout, onSuccess },
    parts: (response) => {
      const tables = tablesOf(response.body, options.tables, options.rules)
      if (match === undefined) return [{ tables, caller: noCaller, context: { callers, response } }]
      return matchedParts(matchRows(endpoint.name, tables(), match, rows), callers, response)
    },
    onFailure: onFailure && ((failure) => onFailure({ callers, ...failure })),
  })
  if (sent.status === 'failed') return rows.map((_row, index) => ({ index, ...sent }))
  return sent.results.map((results, index) => ({ index, status: 'stored', results }))
}

function matchedParts(
  parts: readonly ResponseTables[],
  callers: readonly unknown[],
  response: EndpointResponse,
): readonly Part[] {
  return parts.map((tables, index) => {
    const caller = callers[index] as CallerReader
    return { tables: () => tables, caller, context: { caller, response, index } }
  })
}

const noCaller: CallerReader = (): never => {
  throw new TypeError('sendTogether: rules that use caller need match.')
}
