import type { PublishedCollection } from '../definition/published.ts'
import { ServiceError } from '../errors.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { decodeIfMatch } from '../protocol/entity-tags.ts'
import { namesEntityTag } from '../protocol/media.ts'
import { entityTagOf, stateIn } from './entity-tag.ts'
import type { DataEvent } from './event.ts'
import type { EncodedOutcome, Outcome } from './outcome.ts'
import type { ServiceReply, ServiceRequest } from './request.ts'

/**
 * Returns the states in which `If-Match` lets an Update or Delete write its item; undefined for any. Throws
 * MALFORMED_HEADER for a malformed header, and PRECONDITION_REQUIRED if the collection requires one that is missing.
 */
export function expectedStates(
  { concurrency }: Pick<PublishedCollection, 'concurrency'>,
  event: DataEvent['type'],
  request: Pick<ServiceRequest, 'header'>,
): ReadonlySet<string> | undefined {
  if (concurrency === undefined || (event !== 'Update' && event !== 'Delete')) return undefined
  const header = request.header('if-match')
  if (header !== undefined) {
    const tags = decodeIfMatch(header)
    return tags === '*' ? undefined : new Set(Array.from(tags, stateIn))
  }
  if (!concurrency.isRequired) return undefined
  throw new ServiceError(
    'PRECONDITION_REQUIRED',
    'The header If-Match is required: send the ETag of the item as it was read.',
  )
}

/** Returns an event that writes its item only in one of these states. Other events stay as they are. */
export function withExpected(
  event: DataEvent,
  expected: ReadonlySet<string> | undefined,
): DataEvent {
  if (expected === undefined || (event.type !== 'Update' && event.type !== 'Delete')) return event
  return { expected, ...event }
}

/** Returns the reply of an outcome with its `ETag`, if the collection has conditional requests. */
export function withEntityTag(
  reply: ServiceReply,
  event: DataEvent,
  outcome: Outcome,
  encoded: EncodedOutcome,
): MaybePromise<ServiceReply> {
  if (event.collection.concurrency === undefined) return reply
  return whenDone(entityTagOf(event, outcome, encoded), (tag) => {
    if (tag === undefined) return reply
    const { status, body, headers } = reply
    const cached = event.type === 'Filter' ? revalidated : undefined
    return { status, headers: Object.assign({ ETag: tag }, headers, cached), body }
  })
}

// A client may keep the response, and must revalidate it before each use.
const revalidated = { 'Cache-Control': 'private, no-cache' }

/** Returns 304 instead of a response to a GET that the client has already, according to `If-None-Match`. */
export function unlessCurrent(
  reply: ServiceReply,
  request: Pick<ServiceRequest, 'method' | 'header'>,
): ServiceReply {
  const { ETag: tag } = reply.headers
  if (tag === undefined || request.method !== 'GET' || reply.status !== 200) return reply
  if (!namesEntityTag(request.header('if-none-match'), tag)) return reply
  const { 'Content-Type': _type, ...headers } = reply.headers
  return { status: 304, headers, body: '' }
}
