import type { PublishedEventName } from '../definition/handler.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Outcome } from '../request/outcome.ts'
import type { ServiceReply } from '../request/request.ts'
import { partsOf, type Condition } from '../request/query.ts'
import { throughIn } from '../request/rows.ts'
import type { View } from '../request/view.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { generations } from './generations.ts'
import { seenOnce } from './seen-once.ts'

/** The options of the response cache. */
export interface CacheOptions {
  /** The most bytes that it keeps: bodies, headers and keys, and what the process needs for each. Default 16 MiB. */
  readonly maxBytes?: number
}

/** What the response cache of a service has done since its start, and what it keeps. */
export interface CacheStatistics {
  /** The number of responses that came from the cache. */
  readonly hits: number
  /** The number of responses that could have come from the cache, but did not. */
  readonly misses: number
  /** The number of responses that are kept. */
  readonly entries: number
  /** Their size in bytes, as `maxBytes` counts it. */
  readonly bytes: number
  readonly maxBytes: number
}

/** A response, and what the event was whose outcome it is. */
export interface CachedResponse {
  readonly reply: ServiceReply
  readonly outcome: Outcome['type']
}

/** A request that the cache may respond to. */
export interface CacheableRequest {
  readonly event: PublishedEventName
  readonly view: View
  readonly principal: Principal
  /** The raw target, with its query. */
  readonly target: string
  /** The tag of the language of the response; absent if the service has only one. */
  readonly language?: string | undefined
  /** Whether the request has nothing but its target, its caller and its language that the response could depend on. */
  readonly isPlain: boolean
}

/** The place of a response in the cache. */
export interface CacheSlot {
  readonly key: string
  /** The version of storage that was read before the response is. */
  readonly version: string | number
  /** The response, if it is cached and current. */
  readonly cached: CachedResponse | undefined
  /** Whether the response of an earlier version was kept and used. */
  readonly wasUsed: boolean
}

/** Keeps responses of reads for as long as storage has not changed. */
export interface ResponseCache {
  /**
   * Decides whether the cache responds to a request. Returns undefined for a request that has no place in it.
   * Throws nothing.
   */
  slotFor(request: CacheableRequest): CacheSlot | undefined
  /**
   * Keeps the response of a slot if its target was requested before in the same version, or the response of an earlier
   * version was used, and it is not too large.
   */
  keep(slot: CacheSlot, response: CachedResponse): void
  statistics(): CacheStatistics
}

// Measured: an entry of the map, its key, the objects of the response, and the buffer of its bytes.
const entryBytes = 700
// A single response must not evict most of the others.
const maxShare = 1 / 8
const bytesPerSeenTarget = 8_192

/** Creates the response cache of a service. `storage` returns its version once it is open. */
export function createResponseCache(
  { maxBytes }: Required<CacheOptions>,
  storage: Pick<StorageAdapter, 'version'>,
): ResponseCache {
  const kept = generations<Kept>(maxBytes)
  const seen = seenOnce(maxBytes / bytesPerSeenTarget)
  // The fields of a view, which all callers with the same roles share.
  const fieldSets = new WeakMap<PublishedCollection, FieldSet>()
  let fieldSetCount = 0
  let hits = 0
  let misses = 0

  function fieldSetOf({ collection, readable }: View): FieldSet {
    const known = fieldSets.get(readable)
    if (known !== undefined) return known
    fieldSetCount += 1
    const created = { id: String(fieldSetCount), collections: [collection] }
    fieldSets.set(readable, created)
    return created
  }

  return {
    slotFor({ event, view, principal, target, language = '', isPlain }) {
      if (event !== 'Filter' || !view.collection.isCached || !isPlain) return undefined
      // A condition on referenced items, whose name has a dot, depends on what the caller may read of them.
      if (view.collection.related.size > 0 && /\.|%2e/i.test(target)) return undefined
      const { id, collections } = fieldSetOf(view)
      const all = readWith(collections, view.rows)
      if (all !== collections && !all.every(({ definition }) => definition.cache !== false)) {
        return undefined
      }
      const version = storage.version?.(all)
      if (version === undefined) return undefined
      // A cursor is valid for its caller.
      const { kind, user } = principal
      const owner = view.collection.hasCursor ? JSON.stringify([kind, user]) : ''
      const key = keyOf(owner + id + language, view.rows, target)
      const found = kept.get(key)
      if (found?.version === version) {
        hits += 1
        found.isUsed = true
        return { key, version, cached: found, wasUsed: true }
      }
      misses += 1
      if (found !== undefined) kept.delete(key)
      return { key, version, cached: undefined, wasUsed: found?.isUsed === true }
    },
    keep({ key, version, wasUsed }, { reply, outcome }) {
      if (reply.status !== 200 || !(wasUsed || seen.isRepeated(key, version))) return
      const { body } = reply
      if (body.length > maxBytes * maxShare) return
      const bytes = utf8.encode(body)
      const size = bytes.byteLength + 2 * key.length + lengthOf(reply.headers) + entryBytes
      if (size > maxBytes * maxShare) return
      kept.set(key, { reply: withBytes(reply, bytes), outcome, version, isUsed: false }, size)
    },
    statistics: () => ({ hits, misses, entries: kept.entries(), bytes: kept.bytes(), maxBytes }),
  }
}

interface Kept extends CachedResponse {
  readonly version: string | number
  /** Whether it was the response to a request. */
  isUsed: boolean
}

interface FieldSet {
  readonly id: string
  readonly collections: readonly PublishedCollection[]
}

/** Returns the collections that a response depends on: its own, and those that the row rule goes through. */
function readWith(
  own: readonly PublishedCollection[],
  rows: readonly Condition[],
): readonly PublishedCollection[] {
  let all = own
  for (const condition of rows) {
    if (condition.is === 'equal') continue
    for (const { collection, conditions } of throughIn([condition])) {
      all = readWith([...all, collection], conditions)
    }
  }
  return all
}

/** Returns the key of a response: what a caller reads of a collection, and the target. */
function keyOf(fieldSet: string, rows: readonly Condition[], target: string): string {
  let caller = fieldSet
  // A JSON text ends where its brackets do, and a target starts with a slash: no other key has the same text.
  for (const condition of rows) {
    if (condition.is === 'equal') {
      const { field, value } = condition
      caller += JSON.stringify([field, typeof value, String(value)])
    } else caller += JSON.stringify([partsOf(condition)])
  }
  return caller + target
}

// A cursor can be longer than its page.
function lengthOf(headers: ServiceReply['headers']): number {
  let length = 0
  for (const name in headers) length += (headers[name] as string).length
  return length
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

// One function for all replies: an accessor for each would take several hundred bytes.
const decodedBytes: PropertyDescriptor & ThisType<{ readonly bytes: Uint8Array }> = {
  enumerable: true,
  get() {
    return fromUtf8.decode(this.bytes)
  },
}

/**
 * Returns a reply that keeps its body as bytes only. A copy of it that has another body does not have the
 * bytes, because they are not enumerable.
 */
function withBytes({ status, headers }: ServiceReply, bytes: Uint8Array): ServiceReply {
  const members = { bytes: { value: bytes }, body: decodedBytes }
  return Object.freeze(Object.defineProperties({ status, headers }, members)) as ServiceReply
}
