import type { Row } from '../../request/query.ts'
import type { EndpointResponse } from '../call.ts'

/** The state of a delivery. */
export type DeliveryState = 'behind' | 'waiting' | 'sending' | 'delivered' | 'dead'

/** A delivery, as `list` returns it. It has nothing of the input and the response. */
export interface Delivery {
  readonly id: string
  /** The name of the endpoint in the outbox. */
  readonly endpoint: string
  /** Null if the order does not matter. */
  readonly lane: string | null
  readonly state: DeliveryState
  /** The number of failed calls. */
  readonly failures: number
  /** The number of workers that stopped responding during it. */
  readonly lost: number
  /** An instant, like `due` and `ended`. */
  readonly created: string
  /** The time from which it may be sent. */
  readonly due: string
  /** The time at which it was delivered, or died; else null. */
  readonly ended: string | null
  /** Why the last attempt failed. */
  readonly error: string | null
}

/** A delivery with everything that is stored. */
export interface StoredDelivery extends Delivery {
  readonly turn: number | null
  /** Whether it is dead and its lane waits until it is retried or dropped. */
  readonly holdsLane: boolean
  /** JSON. */
  readonly input: string
  /** JSON, or null. */
  readonly row: string | null
  /** The number of claims. */
  readonly attempt: number
  /** JSON of a response that was not stored by rules and handlers yet, or null. */
  readonly response: string | null
}

/** The fields of {@link Delivery}. */
export const shownFields = [
  'id',
  'endpoint',
  'lane',
  'state',
  'failures',
  'lost',
  'created',
  'due',
  'ended',
  'error',
] as const satisfies readonly (keyof Delivery)[]

/** Returns a row of the deliveries as a typed delivery. */
export function deliveryOf(row: Row): StoredDelivery {
  return row as unknown as StoredDelivery
}

// Credentials of a session are of no use later.
const omitted = new Set(['set-cookie', 'set-cookie2'])

/**
 * Returns the JSON of a response that is stored until rules and handlers accept it; null if it is longer than
 * `maxLength` characters, or if its schema has made something else than JSON of it. The call is repeated then, with the
 * same idempotency key.
 */
export function storeResponse(response: EndpointResponse, maxLength: number): string | null {
  const { status, headers, body } = response
  if (body !== undefined && !isJson(body)) return null
  const pairs = [...headers].filter(([name]) => !omitted.has(name))
  const json = JSON.stringify({ status, headers: pairs, body })
  return json.length <= maxLength ? json : null
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  return isPlain && Object.values(value).every((member) => member === undefined || isJson(member))
}

/** Returns a stored response. */
export function readResponse(json: string): EndpointResponse {
  const { status, headers, body } = JSON.parse(json) as {
    readonly status: number
    readonly headers: [string, string][]
    readonly body: unknown
  }
  return Object.freeze({ status, headers: new Headers(headers), body })
}
