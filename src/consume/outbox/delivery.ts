import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import { parseJson, stringifyJson } from '../../protocol/json-text.ts'
import type { Row } from '../../request/query.ts'
import { countOf } from '../../work/attempts.ts'
import type { EndpointResponse } from '../call.ts'
import { decodeFailedResponse } from './failed-calls.ts'

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

/** A delivery with what was sent, as `get` returns it. */
export interface DeliveryDetails extends Delivery {
  /** How often a worker has claimed it, with those that stopped responding. */
  readonly attempts: number
  /** The idempotency key of the call. */
  readonly key: string
  /** The input of the call; null if the stored text is not JSON. */
  readonly input: Json
  /** The row that rules and handlers read; null if it is the input. */
  readonly row: Json
  /**
   * The last response that was not accepted, which is data of the other service; null if there was none, or if the
   * delivery was delivered.
   */
  readonly response: {
    readonly status: number
    /**
     * The body, if rules or handlers have rejected it. Of an error status, and of a body that can't be read, the first
     * 8,192 bytes as text; null if there are none.
     */
    readonly body: unknown
    /** Whether the response is complete, so that a retry stores it without another call. */
    readonly isKept: boolean
  } | null
}

/** A delivery with everything that is stored. */
export interface StoredDelivery extends Delivery {
  readonly turn: number | null
  /** Whether it is dead and its lane waits until it is retried or dropped. */
  readonly holdsLane: boolean
  /** Null if it is the id. */
  readonly key: string | null
  /** JSON. */
  readonly input: string
  /** JSON, or null. */
  readonly row: string | null
  /** The number of claims. */
  readonly attempt: number
  /** JSON of a response that rules and handlers have not stored yet, or of the response of a failed call, or null. */
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

/**
 * Returns a row of the deliveries as a typed delivery. Another program may have changed the row: a count is never
 * negative, and a value that does not fit its field, which a write returns as absent, becomes one that no delivery
 * can be made of.
 */
export function deliveryOf(row: Row): StoredDelivery {
  const { key = null, lane = null, turn = null, input = '', row: own = '' } = row
  const { failures, lost, error = null, response = null, ended = null } = row
  return {
    ...(row as unknown as StoredDelivery),
    key: key as string | null,
    lane: lane as string | null,
    turn: turn as number | null,
    holdsLane: row['holdsLane'] === true,
    input: input as string,
    row: own as string | null,
    failures: countOf(failures),
    lost: countOf(lost),
    ended: ended as string | null,
    error: error as string | null,
    response: response as string | null,
  }
}

/** Returns whether the input and the row of a delivery are JSON. */
export function isReadable({ input, row }: Pick<StoredDelivery, 'input' | 'row'>): boolean {
  return [input, row ?? input].every((json) => parsed(json) !== undefined)
}

// Credentials of a session are of no use later.
const omitted = new Set(['set-cookie', 'set-cookie2'])

/**
 * Returns the JSON of a response that is stored until rules and handlers accept it; null if it is longer than
 * `maxLength` characters, or if its schema has made something else than JSON of it. The call is repeated then, with the
 * same idempotency key.
 */
export function encodeResponse(response: EndpointResponse, maxLength: number): string | null {
  const { status, headers, body } = response
  if (body !== undefined && !isJson(body)) return null
  const pairs = [...headers].filter(([name]) => !omitted.has(name))
  const json = stringifyJson({ status, headers: pairs, body }) as string
  return json.length <= maxLength ? json : null
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return false
  if (isJsonNumber(value)) return true
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  return isPlain && Object.values(value).every((member) => member === undefined || isJson(member))
}

/** Returns a stored response; undefined for JSON that {@link encodeResponse} has not written. */
export function decodeResponse(json: string): EndpointResponse | undefined {
  const { status, headers, body } = Object(parsed(json)) as Readonly<Record<string, unknown>>
  if (!Number.isSafeInteger(status) || !Array.isArray(headers)) return undefined
  try {
    const pairs = headers as [string, string][]
    return Object.freeze({ status: status as number, headers: new Headers(pairs), body })
  } catch {
    return undefined
  }
}

/** Returns what `get` shows of a delivery. */
export function detailsOf(delivery: StoredDelivery): DeliveryDetails {
  const { id, key, attempt, input, row, response } = delivery
  return {
    ...(Object.fromEntries(
      shownFields.map((name) => [name, delivery[name]]),
    ) as unknown as Delivery),
    attempts: countOf(attempt),
    key: key ?? id,
    input: (parsed(input) ?? null) as Json,
    row: row === null ? null : ((parsed(row) ?? null) as Json),
    response: response === null ? null : shownResponse(response),
  }
}

function shownResponse(json: string): DeliveryDetails['response'] {
  const kept = decodeResponse(json)
  if (kept !== undefined) return { status: kept.status, body: kept.body, isKept: true }
  const failed = decodeFailedResponse(json)
  return failed === undefined
    ? null
    : { status: failed.status, body: failed.excerpt, isKept: false }
}

function parsed(json: string): unknown {
  try {
    return parseJson(json)
  } catch {
    return undefined
  }
}
