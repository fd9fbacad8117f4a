import { isUuid } from '../../definition/field-type.ts'
import type { Row, StorageReader } from '../../storage/adapter.ts'
import { securityCollections } from '../collections.ts'
import type { KeyRecord, NewKey } from './key-store.ts'
import { tableReader } from '../../storage/table.ts'

/** A stored key, with the values of its row. */
export interface StoredKey extends KeyRecord {
  /** The SHA-256 of the key's text in base64url. */
  readonly hash: string
}

/** Returns a row of the collection of keys as a stored key. */
export function storedKey(row: Row): StoredKey
export function storedKey(row: Row | undefined): StoredKey | undefined
export function storedKey(row: Row | undefined): StoredKey | undefined {
  return row as unknown as StoredKey | undefined
}

/** Returns a stored key as the row that it is. */
export function rowOf(key: StoredKey): Row {
  return { ...key }
}

/** Reads a key by its identifier. Of text that is not a UUID there is none. */
export async function findKey(
  reader: StorageReader,
  keyId: string,
): Promise<StoredKey | undefined> {
  if (!isUuid(keyId)) return undefined
  return storedKey(
    await tableReader(reader, securityCollections.keys).one({ keyId: keyId.toLowerCase() }),
  )
}

/** Returns the public record of a key, without its hash. */
export function keyRecord(key: KeyRecord): KeyRecord {
  return Object.freeze(valuesOf(key))
}

/** Returns the record of a new key with its text, which printing and serializing do not show. */
export function newKey(key: KeyRecord, text: string): NewKey {
  // A getter, since debuggers show the values of non-enumerable properties.
  const hidden = { get: () => text, enumerable: false }
  return Object.freeze(Object.defineProperty(valuesOf(key), 'key', hidden) as NewKey)
}

function valuesOf(key: KeyRecord): KeyRecord {
  return {
    keyId: key.keyId,
    start: key.start,
    provider: key.provider,
    user: key.user,
    description: key.description,
    created: key.created,
    expires: key.expires,
    revoked: key.revoked,
    firstUsed: key.firstUsed,
    lastUsed: key.lastUsed,
  }
}
