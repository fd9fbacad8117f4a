import type { MaybePromise } from '../../maybe-promise.ts'
import type { StorageReader, StorageTransaction } from '../../storage/adapter.ts'
import { table, tableReader } from '../../storage/table.ts'
import { securityCollections, type SecurityStorage } from '../collections.ts'
import { recordEvent } from './key-event.ts'
import { inactiveReason, minutesAfter } from './key-lifetime.ts'
import type { StoredKey } from './key-row.ts'

const { keys, keyEvents } = securityCollections

/** Retires a key in the transaction that stores its successor, by the identifier of the successor. */
export type Retire = (transaction: StorageTransaction, successor: string) => Promise<void>

/**
 * Prepares the retirement of a rotated key: now, or after an overlap in minutes. Rejects with a TypeError
 * for an inactive key. The returned function also rejects with a TypeError if the key was rotated or
 * revoked in between, so that concurrent rotations store a single successor.
 */
export async function retireKey(
  storage: SecurityStorage,
  seen: StoredKey,
  { overlap, at }: { readonly overlap: number; readonly at: Date },
): Promise<Retire> {
  requireActive(seen, at)
  const end = minutesAfter(at, overlap, 'keys.rotate.overlap')
  const changes = overlap === 0 ? { revoked: end } : { expires: earlier(seen.expires, end) }
  // A key that expires earlier is not changed, so only its events show a concurrent rotation.
  const rotations = await countRotations(storage, seen.keyId)

  return async (transaction, successor) => {
    const again = await countRotations(transaction, seen.keyId)
    const unchanged = { hash: seen.hash, revoked: null, expires: seen.expires }
    const row = await table(transaction, keys).change(unchanged, changes)
    if (row === undefined || again !== rotations) throw changedMeanwhile()
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
