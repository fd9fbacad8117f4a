import { isUuid } from '../definition/field-type.ts'
import { orderedId } from '../definition/ordered-id.ts'
import type { Row, StorageTransaction } from '../storage/adapter.ts'
import { table } from '../storage/table.ts'
import type { Act } from './actor.ts'
import type { AuditFilter, RecordedChanges } from './audit-filter.ts'
import { readAll, securityCollections, type SecurityStorage } from './collections.ts'
import { instantOf } from './keys/key-lifetime.ts'
import type { KeyEvent, KeyRecord } from './keys/key-store.ts'
import type { UserEvent } from './users/user-store.ts'

const { events } = securityCollections
const noChanges: RecordedChanges = Object.freeze({
  changed: Object.freeze([]),
  addedRoles: Object.freeze([]),
  removedRoles: Object.freeze([]),
})
const nobody: Act = Object.freeze({ actor: null, actorKey: null })

/** An event of a key, without the key. */
export type NewKeyEvent = Pick<KeyEvent, 'event'> &
  Partial<Pick<KeyEvent, 'reason' | 'times' | 'changed'>> & { readonly by?: Act }

/** Adds an event of a key to the audit trail, in the transaction that changes the key. */
export async function recordKeyEvent(
  transaction: StorageTransaction,
  { keyId, user, provider }: Pick<KeyRecord, 'keyId' | 'user' | 'provider'>,
  { event, reason = null, times = 1, changed = [], by = nobody }: NewKeyEvent,
  at: Date,
): Promise<void> {
  const changes = { ...noChanges, changed }
  const values = { about: 'key', event, keyId, user, provider, reason, times }
  await record(transaction, { ...values, ...stored(by, changes) }, at)
}

/** An event of a user. */
export interface NewUserEvent extends Partial<RecordedChanges> {
  readonly event: UserEvent['event']
  readonly by: Act
}

/** Adds an event of a user to the audit trail, in the transaction that changes the user. */
export async function recordUserEvent(
  transaction: StorageTransaction,
  user: string,
  { event, by, ...changes }: NewUserEvent,
  at: Date,
): Promise<void> {
  const values = { about: 'user', event, user, times: 1 }
  await record(transaction, { ...values, ...stored(by, { ...noChanges, ...changes }) }, at)
}

function stored({ actor, actorKey }: Act, changes: RecordedChanges): Row {
  const isEmpty = Object.values(changes).every(({ length }) => length === 0)
  return { actor, actorKey, changes: isEmpty ? null : JSON.stringify(changes) }
}

async function record(transaction: StorageTransaction, values: Row, at: Date): Promise<void> {
  await table(transaction, events).insert({
    eventId: orderedId(at),
    at: instantOf(at),
    ...values,
  })
}

/** Reads the audit trail of keys. */
export async function readKeyEvents(
  storage: SecurityStorage,
  { keyId, ...filter }: AuditFilter & { readonly keyId?: string | undefined },
): Promise<readonly KeyEvent[]> {
  // A database may reject other text.
  if (keyId !== undefined && !isUuid(keyId)) return Object.freeze([])
  const where = keyId === undefined ? {} : { keyId: keyId.toLowerCase() }
  return Object.freeze((await read(storage, { about: 'key', ...where }, filter)).map(keyEvent))
}

/** Reads the audit trail of users. */
export async function readUserEvents(
  storage: SecurityStorage,
  filter: AuditFilter,
): Promise<readonly UserEvent[]> {
  return Object.freeze((await read(storage, { about: 'user' }, filter)).map(userEvent))
}

function read(
  storage: SecurityStorage,
  about: Row,
  { user, actor, latestFirst = false, limit = Infinity, offset = 0 }: AuditFilter,
): Promise<readonly Row[]> {
  const where = {
    ...about,
    ...(user !== undefined && { user }),
    ...(actor !== undefined && { actor }),
  }
  const sort = latestFirst ? ['-at', '-eventId'] : ['at', 'eventId']
  return readAll(storage, events, where, { sort, limit, offset })
}

function keyEvent(row: Row): KeyEvent {
  const { at, event, keyId, user, provider, reason, times } = row as unknown as KeyEvent
  const { actor, actorKey } = row as unknown as KeyEvent
  return Object.freeze({
    at,
    event,
    keyId,
    user,
    provider,
    reason,
    times,
    actor,
    actorKey,
    changed: changesOf(row).changed,
  })
}

function userEvent(row: Row): UserEvent {
  const { at, event, user, actor, actorKey } = row as unknown as UserEvent
  return Object.freeze(Object.assign({ at, event, user, actor, actorKey }, changesOf(row)))
}

/** Returns what a stored event has changed. */
export function changesOf(row: Row): RecordedChanges {
  const text = row['changes'] ?? null
  if (text === null) return noChanges
  try {
    const given = Object(JSON.parse(text as string)) as Partial<RecordedChanges>
    const listOf = (key: keyof RecordedChanges) => Object.freeze([...(given[key] ?? [])])
    return Object.freeze({
      changed: listOf('changed'),
      addedRoles: listOf('addedRoles'),
      removedRoles: listOf('removedRoles'),
    })
  } catch {
    // Another program has changed the row.
    return noChanges
  }
}
