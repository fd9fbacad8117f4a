import type { PublishedCollection } from '../definition/published.ts'
import { errorOf, type ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import { digestOf } from '../request/digest.ts'
import type { ServiceReply } from '../request/request.ts'
import { StorageError, type Row } from '../storage/adapter.ts'
import type { KeyedRequest } from './keyed-request.ts'

/** A stored request. */
export interface KeyRecord {
  readonly id: string
  readonly owner: string
  readonly request: string
  readonly view: string
  readonly state: 'running' | 'done' | 'unknown'
  readonly status: number | null
  readonly headers: string | null
  readonly body: string | null
  readonly seal: string | null
  readonly created: string
  readonly ends: string
  readonly expires: string
}

/** The response header of a repetition. */
const replayed = { 'Idempotent-Replayed': 'true' } as const

/** Returns the fields of a record with a response. One that is too large is left out. */
export async function answered(keyed: KeyedRequest, reply: ServiceReply): Promise<Row> {
  const { status, body } = reply
  const headers = JSON.stringify(reply.headers)
  const bytes = new TextEncoder().encode(body).byteLength + headers.length
  const kept = bytes > keyed.options.maxBytes ? null : body
  const response = { status, headers, body: kept }
  return { state: 'done', ...response, seal: await sealOf({ ...keyed, ...response }) }
}

/**
 * Returns the stored response for a repetition of its request. Throws the error that a repetition receives instead: the key
 * belongs to another request, the first one is running, or there is no response that the caller may have.
 */
export async function replayOf(
  record: KeyRecord,
  keyed: KeyedRequest,
  now: Date,
): Promise<ServiceReply> {
  const { state, status, headers, body } = record
  if (record.request !== keyed.request) throw usedOtherwise()
  if (state === 'running' && Date.parse(record.ends) > now.getTime()) throw inProgress()
  if (state !== 'done') throw notKept()
  if (record.seal !== (await sealOf(record))) throw changed(keyed.collection)
  // Fields or rows of the stored item may be hidden from the caller by now.
  if (body === null || record.view !== keyed.view) throw notKept()
  const own = JSON.parse(headers as string) as ServiceReply['headers']
  return { status: status as number, headers: { ...own, ...replayed }, body }
}

/** Returns whether a record is no longer valid. */
export function isExpired({ expires }: KeyRecord, now: Date): boolean {
  return Date.parse(expires) <= now.getTime()
}

/** Returns the error for a key that belongs to another request. */
export function usedOtherwise(): ServiceError {
  return errorOf('IDEMPOTENCY_KEY_REUSED', messageOf('idempotencyKeyReused', {}))
}

/** Returns the error while the first request with a key is running. */
export function inProgress(): ServiceError {
  return errorOf('REQUEST_IN_PROGRESS', messageOf('requestInProgress', {}), {
    headers: { 'Retry-After': '1' },
  })
}

function notKept(): ServiceError {
  return errorOf('RESPONSE_NOT_KEPT', messageOf('responseNotKept', {}))
}

function changed({ application, name }: PublishedCollection): StorageError {
  return new StorageError('unfit', {
    message: `${application}/${name}: a row of rowgate_idempotency_keys was changed by another program, so that its response is not sent.`,
  })
}

type Sealed = Pick<KeyRecord, 'id' | 'request' | 'view' | 'status' | 'headers' | 'body'>

async function sealOf({ id, request, view, status, headers, body }: Sealed): Promise<string> {
  return digestOf(JSON.stringify([id, request, view, status, headers, body]))
}
