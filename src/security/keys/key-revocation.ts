import type { StorageTransaction } from '../../storage/adapter.ts'
import { securityCollections } from '../collections.ts'
import { recordEvent } from './key-event.ts'
import { instantOf } from './key-lifetime.ts'
import { storedKey, type StoredKey } from './key-row.ts'
import { readPages, readRow } from '../read-rows.ts'
import { equal } from '../../request/query.ts'

const { keys } = securityCollections

/** Ends a key in a transaction. One that is revoked already stays as it is. */
export async function revokeKey(
  transaction: StorageTransaction,
  key: StoredKey,
  at: Date,
): Promise<StoredKey> {
  if (key.revoked !== null) return key
  const conditions = [equal('hash', key.hash), equal('revoked', null)]
  const row = await transaction.update(keys, conditions, { revoked: instantOf(at) })
  if (row === undefined) {
    // Somebody else was faster.
    const late = await readRow(transaction, keys, [equal('hash', key.hash)])
    return late === undefined ? key : storedKey(late)
  }
  await recordEvent(transaction, key, { event: 'revoked' }, at)
  return storedKey(row)
}

/** Ends every key of a user, so that none comes back to life with a later user of the same name. */
export async function revokeKeysOf(
  transaction: StorageTransaction,
  user: string,
  at: Date,
): Promise<void> {
  const alive = [equal('user', user), equal('revoked', null)]
  for (const row of await readPages(transaction, keys, alive, ['hash'])) {
    await revokeKey(transaction, storedKey(row), at)
  }
}
