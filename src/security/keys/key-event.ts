import { orderedId } from '../../definition/ordered-id.ts'
import type { Row, StorageTransaction } from '../../storage/adapter.ts'
import { table } from '../../storage/table.ts'
import { readAll, securityCollections, type SecurityStorage } from '../collections.ts'
import type { KeyEvent, KeyRecord } from './key-store.ts'
import { instantOf } from './key-lifetime.ts'

const { keyEvents } = securityCollections

/** An event of a key, without the key. */
export type NewKeyEvent = Pick<KeyEvent, 'event'> & Partial<Pick<KeyEvent, 'reason' | 'times'>>

/** Adds an event of a key to the audit trail, in the transaction that changes the key. */
export async function recordEvent(
  transaction: StorageTransaction,
  { keyId, user, provider }: Pick<KeyRecord, 'keyId' | 'user' | 'provider'>,
  { event, reason = null, times = 1 }: NewKeyEvent,
  at: Date,
): Promise<void> {
  const values = { at: instantOf(at), event, keyId, user, provider, reason, times }
  await table(transaction, keyEvents).insert({ eventId: orderedId(at), ...values })
}

/** Reads the audit trail of keys, the oldest event first. */
export async function readEvents(
  storage: SecurityStorage,
  filter: { readonly keyId?: string | undefined; readonly user?: string | undefined },
): Promise<readonly KeyEvent[]> {
  const where = {
    ...(filter.keyId !== undefined && { keyId: filter.keyId }),
    ...(filter.user !== undefined && { user: filter.user }),
  }
  const rows = await readAll(storage, keyEvents, where, ['at', 'eventId'])
  return Object.freeze(rows.map(keyEvent))
}

function keyEvent(row: Row): KeyEvent {
  const { at, event, keyId, user, provider, reason, times } = row as unknown as KeyEvent
  return Object.freeze({ at, event, keyId, user, provider, reason, times })
}
