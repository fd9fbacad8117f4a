import type { StorageReader, StorageTransaction } from '../../storage/adapter.ts'
import { securityCollections, type SecurityStorage } from '../collections.ts'
import { recordEvent } from './key-event.ts'
import { instantOf, inactiveReason, minutesAfter } from './key-lifetime.ts'
import { findKey, storedKey, type StoredKey } from './key-row.ts'
import { isKeyText } from './key-form.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { table, tableReader } from '../../storage/table.ts'

const { keys, keyEvents } = securityCollections

/** Revokes a key in a transaction and returns it. A revoked key is returned unchanged. */
export async function revokeKey(
  transaction: StorageTransaction,
  key: StoredKey,
  at: Date,
): Promise<StoredKey> {
  const { hash } = key
  const stored = table(transaction, keys)
  const row = await stored.change({ hash, revoked: null }, { revoked: instantOf(at) })
  // If no row is changed, another transaction has revoked the key.
  if (row === undefined) return storedKey(await stored.one({ hash })) ?? key
  await recordEvent(transaction, key, { event: 'revoked' }, at)
  return storedKey(row)
}

/** Revokes all keys of a user, so that they do not work for a later user of the same name. */
export async function revokeKeysOf(
  transaction: StorageTransaction,
  user: string,
  at: Date,
): Promise<void> {
  for (const row of await tableReader(transaction, keys).all({ user, revoked: null }))
    await revokeKey(transaction, storedKey(row), at)
}

const minDistinctCharacters = 10

/** Returns a chosen key. Throws a TypeError if it is missing, malformed or obviously not random. */
export function requireChosenKey(text: unknown): string {
  const place = 'keys.ensure.key'
  if (text === undefined || text === '')
    throw new TypeError(`${place} is missing: set the environment variable with the key`)
  const advice = `make one with: node -p "crypto.randomBytes(32).toString('base64url')"`
  if (typeof text !== 'string' || !isKeyText(text))
    throw new TypeError(`${place} must be 16 to 128 random bytes in base64url; ${advice}`)
  if (new Set(text).size < minDistinctCharacters)
    throw new TypeError(`${place} is not random: it has too few different characters; ${advice}`)
  return text
}

/**
 * Stores a key unless one with its hash exists, which is returned unchanged, even if it is revoked. Rejects
 * with a TypeError if that one belongs to another user or provider.
 */
export async function storeMissingKey(
  transaction: StorageTransaction,
  wanted: StoredKey,
  at: Date,
): Promise<StoredKey> {
  const stored = table(transaction, keys)
  const row = await stored.one({ hash: wanted.hash })
  if (row === undefined) {
    await stored.insertMissing({ ...wanted })
    await recordEvent(transaction, wanted, { event: 'created' }, at)
    return wanted
  }
  const found = storedKey(row)
  if (found.user !== wanted.user || found.provider !== wanted.provider)
    throw new TypeError(
      'keys.ensure.key is the key of another user or provider; choose another key',
    )
  return found
}

/** Retires a key in the transaction that stores its successor, by the identifier of the successor. */
export type Retire = (transaction: StorageTransaction, successor: string) => Promise<void>

/** A key that is rotated, as it was read. */
export interface RotatedKey extends StoredKey {
  /** How often it was rotated before it was read. */
  readonly rotations: number
}

/** Reads a key that is rotated; undefined if there is none. */
export async function findRotated(
  storage: SecurityStorage,
  keyId: string,
): Promise<RotatedKey | undefined> {
  // Read first: a rotation that comes in between is one of the key that is read then.
  const rotations = await countRotations(storage, keyId)
  const key = await findKey(storage, keyId)
  return key && { ...key, rotations }
}

/**
 * Returns what retires a rotated key: now, or after an overlap in minutes. Throws a TypeError for an inactive key. The
 * returned function rejects with a TypeError if the key was rotated or revoked since it was read, so that concurrent
 * rotations store a single successor.
 */
export function retireKey(
  seen: RotatedKey,
  { overlap, at }: { readonly overlap: number; readonly at: Date },
): Retire {
  requireActive(seen, at)
  const end = minutesAfter(at, overlap, 'keys.rotate.overlap')
  const changes = overlap === 0 ? { revoked: end } : { expires: earlier(seen.expires, end) }

  return async (transaction, successor) => {
    const again = await countRotations(transaction, seen.keyId)
    const unchanged = { hash: seen.hash, revoked: null, expires: seen.expires }
    const row = await table(transaction, keys).change(unchanged, changes)
    // A key that expires earlier is not changed, so only its events show a concurrent rotation.
    if (row === undefined || again !== seen.rotations) throw changedMeanwhile()
    await recordEvent(transaction, seen, { event: 'rotated', reason: successor }, at)
  }
}

function requireActive(key: StoredKey, at: Date): void {
  const reason = inactiveReason(key, at)
  if (reason === undefined) return
  const what = reason === 'revoked' ? 'was revoked' : 'has expired'
  throw new TypeError(`keys.rotate: the key ${what}; create a new one instead`)
}

function earlier(expires: string | null, end: string): string {
  return expires !== null && Date.parse(expires) <= Date.parse(end) ? expires : end
}

function countRotations(reader: StorageReader, keyId: string): MaybePromise<number> {
  return tableReader(reader, keyEvents).count({ keyId, event: 'rotated' })
}

function changedMeanwhile(): TypeError {
  return new TypeError(
    'keys.rotate: the key was changed at the same time; list the keys and try again',
  )
}
