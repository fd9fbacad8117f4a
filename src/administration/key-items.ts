import { isUuid } from '../definition/field-type.ts'
import { equal, type Condition, type Row } from '../request/query.ts'
import { securityCollections } from '../security/collections.ts'
import { inactiveReason } from '../security/keys/key-lifetime.ts'
import { storedKey } from '../security/keys/key-row.ts'
import type { StoredValue } from '../definition/field-type.ts'
import { keyProvidersOf, providerName, unfitRows, type Context } from './context.ts'
import { never, type ServedTable } from './pages.ts'

/** A stored key, as administration publishes it. */
export interface KeyItem {
  readonly keyId: string
  readonly user: string
  /** The name of the provider. */
  readonly provider: string
  readonly start: string
  readonly description: string | null
  readonly created: string
  readonly expires: string | null
  readonly revoked: string | null
  readonly firstUsed: string | null
  readonly lastUsed: string | null
  readonly state: 'active' | 'expired'
  readonly isSession: boolean
  /** Only in single items. */
  readonly requests: null
  readonly key: null
  readonly expiresIn: null
  readonly rotates: null
  readonly overlap: null
}

const { keys } = securityCollections
const sameNames = [
  'keyId',
  'user',
  'start',
  'description',
  'created',
  'expires',
  'revoked',
] as const
const times = ['firstUsed', 'lastUsed'] as const

/** Returns the table of the keys that meet the conditions. */
export function keyTable(context: Context, where: readonly Condition[]): ServedTable<KeyItem> {
  const now = context.host().now()
  return {
    storage: context.host().storage,
    collection: keys,
    where,
    stored: [...sameNames, ...times],
    condition: (field, value) => conditionOf(context, field, value, now),
    itemOf: (row) => keyItem(context, row, now),
    unfit: unfitRows(context, 'keys'),
  }
}

function conditionOf(
  context: Context,
  field: string,
  value: StoredValue,
  now: Date,
): Condition | undefined {
  if (field === 'isSession') return isSession(value === true)
  if (field === 'state') return stateCondition(value, now)
  if (field !== 'provider') return undefined
  const providers = keyProvidersOf(context)
  const found = providers.find(({ name }) => name === value)
  if (found !== undefined) return equal('provider', found.identifier)
  // Only of a provider that the service no longer has is the identifier published.
  const isUnnamed = isUuid(String(value)) && !providers.some((one) => one.identifier === value)
  return isUnnamed ? equal('provider', value) : never
}

/** Returns the condition that a key is a session, or none. */
export function isSession(is: boolean): Condition {
  return equal('purpose', is ? 'session' : null)
}

/** Returns the condition that a key has not been revoked. */
export const notRevoked: Condition = equal('revoked', null)

function stateCondition(state: StoredValue, now: Date): Condition {
  const at = now.toISOString().replace('.000', '')
  const ended: Condition = { field: 'expires', is: 'lte', value: at }
  if (state === 'expired') return ended
  if (state !== 'active') return never
  return {
    is: 'or',
    conditions: [equal('expires', null), { field: 'expires', is: 'gt', value: at }],
  }
}

function keyItem(context: Context, row: Row, now: Date): KeyItem {
  const key = storedKey(row)
  const { keyId, user, start, description, created, expires, revoked, firstUsed, lastUsed } = key
  return {
    ...{ keyId, user, start, description, created, expires, revoked, firstUsed, lastUsed },
    provider: providerName(context, key.provider),
    state: inactiveReason({ revoked: null, expires }, now) === undefined ? 'active' : 'expired',
    isSession: row['purpose'] === 'session',
    requests: null,
    ...{ key: null, expiresIn: null, rotates: null, overlap: null },
  }
}
