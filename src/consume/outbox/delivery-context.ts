import type { WithinTransaction } from '../../in-process.ts'
import type { EndpointResponse } from '../call.ts'
import type { CallerReader } from '../rules/caller-reader.ts'
import type { RuleResult } from '../rules/write-items.ts'
import type { ResponseReader } from '../tables/read-tables.ts'

/** What the handlers of a delivery receive. Its writes are committed together with the delivery's state. */
export interface DeliveryContext<Row = unknown> extends WithinTransaction<object> {
  /** The id of the delivery, which was the idempotency key of the call unless another one was given. */
  readonly deliveryId: string
  /** Reads a field of the delivery's row. */
  readonly caller: CallerReader<Row>
  /** The number of failed calls before. */
  readonly failures: number
}

/** What `onSuccess` receives. */
export interface DeliveredContext<Body, Row = unknown> extends DeliveryContext<Row> {
  readonly response: EndpointResponse<Body>
  /** The response as tables. */
  readonly tables: ResponseReader<Body>
  /** What the rules have stored. */
  readonly results: readonly RuleResult[]
}

/** What `onFailure` receives. */
export interface DeadContext<Row = unknown, Body = unknown> extends DeliveryContext<Row> {
  /**
   * Why the delivery is dead: a CallError if its last call failed, null if its workers have died, else an error of the
   * tables, the rules or `onSuccess`.
   */
  readonly error: unknown
  /** The response that rules or `onSuccess` have rejected; null if there was none. */
  readonly response: EndpointResponse<Body> | null
}
