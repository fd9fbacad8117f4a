import { requireKnown } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import type { CallOptions } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { callerReader } from '../rules/caller-reader.ts'
import {
  requireRules,
  tablesOf,
  type ActingUser,
  type TargetCollections,
} from '../store-response.ts'
import {
  sendRequest,
  type Failure,
  type SendResult,
  type StoreOptions,
  type Success,
} from './send-request.ts'

/** The options of {@link send}. */
export interface SendOptions<
  Within extends TargetCollections,
  Input,
  Response,
  Row extends object,
> extends StoreOptions<NoInfer<Response>, NoInfer<Row>> {
  /** The rows. One request is sent for each, one after the other. */
  readonly rows: Iterable<Row> | AsyncIterable<Row>
  /** Returns the input of the request for a row. */
  readonly input: (row: NoInfer<Row>) => NoInfer<Input>
  /** Returns the options of the call for a row, such as its `idempotencyKey`. */
  readonly call?: (row: NoInfer<Row>) => CallOptions
  /**
   * Called after the rules, in their transaction. What it throws undoes both. After a conflict with another transaction
   * both are repeated, up to 12 times: it must have no other effects.
   */
  readonly onSuccess?: NoInfer<(at: Success<Within, Response, Row>) => void | Promise<void>>
  /**
   * Called if the call fails, or its response can't be stored. With it, the next row is sent after a failure.
   * Without it, `send` rejects. After a conflict it is called again, as `onSuccess` is.
   */
  readonly onFailure?: NoInfer<(at: Failure<Within, Response, Row>) => void | Promise<void>>
}

const known = ['rows', 'input', 'call', 'rules', 'tables', 'timeout', 'onSuccess', 'onFailure']

/**
 * Sends a request for each row and stores what the responses contain: for each response the rules, then the
 * success handler, in one transaction. Rejects with the first error that no failure handler receives; what
 * was stored for the rows before stays stored.
 */
export async function send<Within extends TargetCollections, Input, Response, Row extends object>(
  user: ActingUser<Within>,
  endpoint: Endpoint<Input, Response>,
  options: SendOptions<Within, Input, Response, Row>,
): Promise<readonly SendResult[]> {
  requireKnown('send', options, known)
  const { rows, input, call, rules = [], onSuccess, onFailure, tables, timeout } = options
  // Before anything is sent.
  requireRules(rules)
  const sent: SendResult[] = []
  for await (const row of rows) {
    const index = sent.length
    const caller = callerReader(row, 'send')
    const callOptions = call?.(row) ?? {}
    requirePlainObject('The options of the call', callOptions, 'send')
    const given = input(row)
    requirePlainObject('The input', given, 'send')
    const sending = await sendRequest(user, {
      ...{ endpoint, input: given, call: callOptions, rules, timeout, onSuccess },
      parts: (response) => [
        {
          tables: tablesOf(response.body, tables, rules),
          caller,
          context: { caller, response, index },
        },
      ],
      onFailure: onFailure && ((failure) => onFailure({ caller, index, ...failure })),
    })
    sent.push(
      sending.status === 'stored'
        ? { index, status: 'stored', results: sending.results[0] ?? [] }
        : { index, ...sending },
    )
  }
  return sent
}
