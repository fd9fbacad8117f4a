import type { Row, StorageReader } from '../../storage/adapter.ts'
import { securityCollections } from '../collections.ts'
import type { KeyRecord, NewKey } from './key-store.ts'
import { readRow } from '../read-rows.ts'
import { equal } from '../../request/query.ts'

/** A key as it is stored: its row has these values and no others. */
export interface StoredKey extends KeyRecord {
  /** The SHA-256 of the key's text in base64url. */
  readonly hash: string
}

/** A row of the collection of keys by the types of its fields. */
export function storedKey(row: Row): StoredKey {
  return row as unknown as StoredKey
}

/** The key with an identifier. */
export async function findKey(
  reader: StorageReader,
  keyId: string,
): Promise<StoredKey | undefined> {
  const row = await readRow(reader, securityCollections.keys, [equal('keyId', keyId)])
  return row && storedKey(row)
}

/** What may be told about a key. */
export function keyRecord(key: KeyRecord): KeyRecord {
  return Object.freeze(valuesOf(key))
}

/** The record of a new key with its text, which neither printing nor serializing shows. */
export function newKey(key: KeyRecord, text: string): NewKey {
  // A getter: a debugger that shows hidden properties does not show its value.
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
