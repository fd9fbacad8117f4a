import type { StorageTransaction } from '../../storage/adapter.ts'
import { securityCollections } from '../collections.ts'
import { recordEvent } from './key-event.ts'
import { instantOf } from './key-lifetime.ts'
import { storedKey, type StoredKey } from './key-row.ts'
import { readPages, readRow } from '../read-rows.ts'
import { equal } from '../../request/query.ts'

const { keys } = securityCollections

/** Revokes a key in a transaction and returns it. A revoked key is returned unchanged. */
export async function revokeKey(
  transaction: StorageTransaction,
  key: StoredKey,
  at: Date,
): Promise<StoredKey> {
  const conditions = [equal('hash', key.hash), equal('revoked', null)]
  const row = await transaction.update(keys, conditions, { revoked: instantOf(at) })
  if (row === undefined) {
    // Another transaction has revoked it.
    const current = await readRow(transaction, keys, [equal('hash', key.hash)])
    return current === undefined ? key : storedKey(current)
  }
  await recordEvent(transaction, key, { event: 'revoked' }, at)
  return storedKey(row)
}

/** Revokes all keys of a user, so that they do not work for a later user of the same name. */
export async function revokeKeysOf(
  transaction: StorageTransaction,
  user: string,
  at: Date,
): Promise<void> {
  const active = [equal('user', user), equal('revoked', null)]
  for (const row of await readPages(transaction, keys, active, ['hash'])) {
    await revokeKey(transaction, storedKey(row), at)
  }
}
