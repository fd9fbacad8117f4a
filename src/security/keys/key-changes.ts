import * as z from 'zod/mini'
import { isUuid, isValueOf } from '../../definition/field-type.ts'
import { withoutZeroFraction } from '../../definition/value-forms.ts'
import { accepted, line } from '../check-call.ts'
import type { Row, StorageReader, StorageTransaction } from '../../storage/adapter.ts'
import { securityCollections, type SecurityStorage } from '../collections.ts'
import type { Act } from '../actor.ts'
import { recordKeyEvent } from '../audit.ts'
import { instantOf, inactiveReason, minutesAfter } from './key-lifetime.ts'
import { findKey, storedKey, type StoredKey } from './key-row.ts'
import { isKeyText } from './key-form.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { readFitting } from '../../storage/fitting-rows.ts'
import { table, tableReader } from '../../storage/table.ts'

const { keys, events } = securityCollections

/** When a change is made, and by whom. */
export interface Moment {
  readonly at: Date
  readonly by: Act
}

/**
 * Revokes a key in a transaction, with the sessions for which it was exchanged, and returns it. A revoked key is returned
 * unchanged.
 */
export async function revokeKey(
  transaction: StorageTransaction,
  key: StoredKey,
  moment: Moment,
): Promise<StoredKey> {
  const revoked = await revokeOne(transaction, key, moment)
  await revokeSessionsOf(transaction, key.user, moment, key.keyId)
  return revoked
}

async function revokeOne(
  transaction: StorageTransaction,
  key: StoredKey,
  { at, by }: Moment,
): Promise<StoredKey> {
  const { hash } = key
  const stored = table(transaction, keys)
  const row = await stored.change({ hash, revoked: null }, { revoked: instantOf(at) })
  // If no row is changed, another transaction has revoked the key.
  if (row === undefined) return storedKey(await stored.one({ hash })) ?? key
  await recordKeyEvent(transaction, key, { event: 'revoked', by }, at)
  return storedKey(row)
}

/** Revokes all keys of a user, so that they do not work for a later user of the same name. */
export async function revokeKeysOf(
  transaction: StorageTransaction,
  user: string,
  moment: Moment,
): Promise<void> {
  for (const key of await readableKeys(transaction, { user, revoked: null }, { lock: true }))
    await revokeOne(transaction, key, moment)
}

/**
 * Reads keys. With a lock, the transaction on MariaDB and MySQL also sees those that another has just created. Those that
 * can't be read are removed: a key that could be read again later must not be active then.
 */
export async function readableKeys(
  transaction: StorageTransaction,
  where: Row,
  { lock = false } = {},
): Promise<readonly StoredKey[]> {
  const { rows, unfit } = await readFitting(transaction, keys, where, { lock })
  for (const { key, error } of unfit) {
    if (key === undefined) throw error
    await table(transaction, keys).remove(key)
  }
  return rows.map((row) => storedKey(row))
}

/** The shape of the changes of a key. */
export const changesShape = z.strictObject({
  description: z.nullish(line(0, 200)),
  expires: z.optional(
    accepted<string>(
      (value) => isValueOf({ type: 'instant' }, value),
      'must be an instant, such as 2026-12-31T00:00:00Z',
    ),
  ),
})

/** Changes the description or the expiry of a key in a transaction, and returns the key. */
export async function changeKey(
  transaction: StorageTransaction,
  key: StoredKey,
  given: z.infer<typeof changesShape>,
  { at, by }: Moment,
): Promise<StoredKey> {
  requireActive(key, at, 'keys.change')
  const { description = key.description } = given
  const expires = given.expires === undefined ? key.expires : withoutZeroFraction(given.expires)
  requireEarlier(key, expires, at)
  const wanted = { description: description === '' ? null : description, expires }
  const changed = (['description', 'expires'] as const).filter((name) => wanted[name] !== key[name])
  if (changed.length === 0) return key
  const unchanged = { hash: key.hash, revoked: null, expires: key.expires }
  const row = await table(transaction, keys).change(unchanged, wanted)
  if (row === undefined) throw changedMeanwhile('keys.change')
  await recordKeyEvent(transaction, key, { event: 'changed', changed, by }, at)
  return storedKey(row)
}

function requireEarlier(key: StoredKey, expires: string | null, at: Date): void {
  if (expires === null || expires === key.expires) return
  const place = 'keys.change.expires'
  if (Date.parse(expires) <= at.getTime())
    throw new TypeError(`${place} must be later than now; to end the key now, revoke it`)
  if (key.expires !== null && Date.parse(expires) > Date.parse(key.expires))
    throw new TypeError(
      `${place} must be earlier than ${key.expires}; to extend the key, rotate it`,
    )
}

/**
 * Revokes the active sessions of a user, or those for which one key was exchanged, except the one with which the change is
 * made.
 */
export async function revokeSessionsOf(
  transaction: StorageTransaction,
  user: string,
  moment: Moment,
  exchanged?: string,
): Promise<void> {
  const sessions = { user, revoked: null, purpose: 'session' }
  for (const key of await readableKeys(transaction, sessions, { lock: true })) {
    if (key.keyId === moment.by.actorKey || inactiveReason(key, moment.at) !== undefined) continue
    const isMeant =
      exchanged === undefined || (await creatorOf(transaction, key.keyId)) === exchanged
    if (isMeant) await revokeOne(transaction, key, moment)
  }
}

/** Returns the identifier of the key with which a key was created. */
async function creatorOf(transaction: StorageTransaction, keyId: string): Promise<unknown> {
  const created = { keyId, event: 'created' }
  return (await tableReader(transaction, events).one(created, ['eventId', 'actorKey']))?.[
    'actorKey'
  ]
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
  { at, by }: Moment,
): Promise<StoredKey> {
  const stored = table(transaction, keys)
  const row = await stored.one({ hash: wanted.hash })
  if (row === undefined) {
    await stored.insertMissing({ ...wanted })
    await recordKeyEvent(transaction, wanted, { event: 'created', by }, at)
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
  if (!isUuid(keyId)) return undefined
  // Read first: a rotation that comes in between is one of the key that is read then.
  const rotations = await countRotations(storage, keyId.toLowerCase())
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
  { overlap, at, by }: Moment & { readonly overlap: number },
): Retire {
  requireActive(seen, at, 'keys.rotate')
  const end = minutesAfter(at, overlap, 'keys.rotate.overlap')
  const changes = overlap === 0 ? { revoked: end } : { expires: earlier(seen.expires, end) }

  return async (transaction, successor) => {
    const again = await countRotations(transaction, seen.keyId)
    const unchanged = { hash: seen.hash, revoked: null, expires: seen.expires }
    const row = await table(transaction, keys).change(unchanged, changes)
    // A key that expires earlier is not changed, so only its events show a concurrent rotation.
    if (row === undefined || again !== seen.rotations) throw changedMeanwhile('keys.rotate')
    await recordKeyEvent(transaction, seen, { event: 'rotated', reason: successor, by }, at)
    if (overlap === 0) await revokeSessionsOf(transaction, seen.user, { at, by }, seen.keyId)
  }
}

function requireActive(key: StoredKey, at: Date, call: string): void {
  const reason = inactiveReason(key, at)
  if (reason === undefined) return
  const what = reason === 'revoked' ? 'was revoked' : 'has expired'
  throw new TypeError(`${call}: the key ${what}; create a new one instead`)
}

function earlier(expires: string | null, end: string): string {
  return expires !== null && Date.parse(expires) <= Date.parse(end) ? expires : end
}

function countRotations(reader: StorageReader, keyId: string): MaybePromise<number> {
  return tableReader(reader, events).count({ keyId, event: 'rotated' })
}

function changedMeanwhile(call: string): TypeError {
  return new TypeError(`${call}: the key was changed at the same time; list the keys and try again`)
}
