import type { PublishedCollection } from '../definition/published.ts'
import type { Principal } from '../definition/principal.ts'
import { ServiceError } from '../errors.ts'
import { digestOf } from '../request/digest.ts'
import type { ServiceRequest } from '../request/request.ts'
import type { View } from '../request/view.ts'
import type { CompleteKeys } from './options.ts'

/** A request with an idempotency key, as digests. */
export interface KeyedRequest {
  /** What the caller and the key are. */
  readonly id: string
  /** Who the caller is. */
  readonly owner: string
  /** What the request is. */
  readonly request: string
  /** What the caller may read. */
  readonly view: string
  readonly collection: PublishedCollection
  readonly options: CompleteKeys
}

/** What a keyed request is made of. */
export interface KeyedParts {
  readonly key: string
  /** The brand prefix of the service. */
  readonly brand: string
  readonly request: Pick<ServiceRequest, 'method' | 'header'>
  /** The path and query, without credentials. */
  readonly target: string
  /** The header of confirmed warnings. */
  readonly ignoredWarnings: string | undefined
  readonly bytes: Uint8Array | undefined
  readonly view: View
  readonly principal: Principal
  readonly options: CompleteKeys
}

/** The name of the request header, for reading. */
export const keyHeader = 'idempotency-key'

/** Throws MALFORMED_HEADER for a key that is not 1 to 255 visible ASCII characters, such as that of a repeated header. */
export function requireKey(value: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(value)) return value
  throw new ServiceError(
    'MALFORMED_HEADER',
    'The header Idempotency-Key is malformed: it must be one key of 1 to 255 visible ASCII characters.',
  )
}

/** Returns a request as digests. Stored rows contain neither keys nor bodies of requests. */
export async function keyedRequest(parts: KeyedParts): Promise<KeyedRequest> {
  const { key, brand, request, target, ignoredWarnings, bytes, view, principal, options } = parts
  const { collection } = view
  const caller = [brand, collection.application, principal.kind, principal.user]
  const body = bytes === undefined ? null : decoder.decode(bytes)
  const ifMatch = request.header('if-match') ?? null
  const sent = [request.method, target, ignoredWarnings ?? null, ifMatch, body]
  return {
    id: await digestOf(JSON.stringify(['id', ...caller, key])),
    owner: await digestOf(JSON.stringify(['owner', ...caller])),
    request: await digestOf(JSON.stringify(sent)),
    view: await digestOf(viewText(view)),
    collection,
    options,
  }
}

// With a byte order mark, a body is another one.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns a text that changes with the fields and the rows that a caller may read. */
function viewText({ readable, rows }: View): string {
  const fields = Array.from(readable.responseFields.keys())
  return JSON.stringify([readable.allNames, fields, rows], (name, value: unknown) =>
    name === 'collection' ? nameOf(value as PublishedCollection) : value,
  )
}

function nameOf({ application, name }: PublishedCollection): string {
  return `${application}/${name}`
}
