import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { isUuid } from '../definition/field-type.ts'
import { boolean, instant, integer, text, uuid } from '../definition/field.ts'
import type { Principal } from '../definition/principal.ts'
import { error } from '../definition/validation.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { equal } from '../request/query.ts'
import { actOfPrincipal, optionOf, type Act } from '../security/actor.ts'
import { checkedHashOf } from '../security/basic/checked-password.ts'
import { securityCollections } from '../security/collections.ts'
import type { ApiKeyProvider } from '../security/keys/api-key.ts'
import { readableKeys, revokeKey, type Moment } from '../security/keys/key-changes.ts'
import { inactiveReason } from '../security/keys/key-lifetime.ts'
import { storedKey, type StoredKey } from '../security/keys/key-row.ts'
import type { KeyProvider } from '../security/provider.ts'
import { lockedUser } from '../security/users/user-changes.ts'
import type { User } from '../security/users/user-store.ts'
import type { StorageTransaction } from '../storage/adapter.ts'
import { filterFitting } from '../storage/fitting-rows.ts'
import { table } from '../storage/table.ts'
import { keyProvidersOf, type Context } from './context.ts'
import { isSession, keyTable, notRevoked, type KeyItem } from './key-items.ts'
import { itemOf, pageOf, type ServedTable } from './pages.ts'
import { orRejected } from './refused.ts'

/** The longest life of a session, in minutes. */
const maxMinutes = 30

/** The number of active sessions that a user can have. */
const maxSessions = 100

const { keys, users } = securityCollections

interface SessionDraft {
  readonly expiresIn: number | null
}

/** Returns the collection of the caller's own sessions: short keys, for which a caller exchanges a credential. */
export function sessionCollection(context: Context): CollectionDefinition {
  const table = (caller: Principal): ServedTable<object> => {
    const own = equal('user', caller.user ?? '')
    const keys = keyTable(context, [notRevoked, isSession(true), own])
    return { ...keys, itemOf: (row) => sessionItem(context, keys.itemOf(row), caller) }
  }
  const item = (caller: Principal, keyId: string) => itemOf(table(caller), equal('keyId', keyId))
  return defineCollection(
    {
      description:
        'Sessions of the caller. An insert exchanges the credential for a short key, and shows it once; a delete signs out.',
      key: 'keyId',
      defaultSort: ['created'],
      fields: {
        keyId: uuid({ readOnly: true }),
        key: text({
          readOnly: true,
          itemOnly: true,
          description: 'The key, only in the response of the insert.',
        }),
        header: text({ readOnly: true, search: false, description: 'The header for the key.' }),
        user: text({ readOnly: true }),
        start: text({ readOnly: true }),
        created: instant({ readOnly: true }),
        expires: instant({ readOnly: true }),
        lastUsed: instant({ readOnly: true }),
        isCurrent: boolean({ readOnly: true, description: 'Whether the request uses it.' }),
        expiresIn: integer({
          ...{ minimum: 1, maximum: maxMinutes, readableBy: [], writableBy: 'everyone' },
          description: `Minutes. Default ${maxMinutes}.`,
        }),
      },
    },
    {
      validations: rules(context),
      serve: {
        filter: (call) => asStorageCall(call, () => pageOf(table(call.principal), call)) as never,
        get: (call) => asStorageCall(call, () => item(call.principal, call.key)) as never,
        insert: (call) =>
          asStorageCall(call, async () => {
            const { principal } = call
            const { expiresIn } = call.item as unknown as SessionDraft
            const made = await orRejected(
              () => createSession(context, principal, expiresIn ?? maxMinutes),
              () => call.reject('There can be no session for this account.'),
            )
            return { ...(await item(principal, made.keyId)), key: made.key }
          }) as never,
        delete: (call) =>
          asStorageCall(call, async () => {
            if ((await item(call.principal, call.key)) === undefined) return false
            const keyring = context.host().service.security.keys
            await keyring.revoke(call.key, optionOf(actOfPrincipal(call.principal)))
            return true
          }),
      },
    },
  )
}

/** Returns how many whole minutes the key of the caller is still active. */
async function minutesLeft(context: Context, { keyId }: Principal): Promise<number> {
  const found = keyId === null ? undefined : await keyOf(context, keyId)
  const end = found?.expires ?? null
  return end === null
    ? Infinity
    : Math.floor((Date.parse(end) - context.host().now().getTime()) / 60_000)
}

function keyOf(context: Context, keyId: string): Promise<KeyItem | undefined> {
  return isUuid(keyId)
    ? itemOf(keyTable(context, []), equal('keyId', keyId))
    : Promise.resolve(undefined)
}

async function createSession(context: Context, principal: Principal, minutes: number) {
  const left = await minutesLeft(context, principal)
  const { keys: keyring } = context.host().service.security
  const provider = sessionProvider(context, principal)
  const expiresIn = Math.min(minutes, provider?.maxExpiry ?? minutes, left)
  const by = actOfPrincipal(principal)
  const act: Act = {
    ...by,
    purpose: 'session',
    within: async (transaction, create) => {
      const user = principal.user ?? ''
      if (context.facts.hasUsers) await requirePassword(transaction, user, checkedHashOf(principal))
      await requireActive(transaction, principal, context.host().now())
      await makeRoom(transaction, user, { at: context.host().now(), by })
      return create()
    },
  }
  return keyring.create(
    { user: principal.user ?? '', provider: provider?.identifier ?? '', expiresIn },
    optionOf(act),
  )
}

/**
 * Locks the user. Throws a TypeError if the password was changed since the request was authenticated by it: the sessions of
 * the user were revoked with that. A change at the same time waits, and then sees the session.
 */
async function requirePassword(
  transaction: StorageTransaction,
  user: string,
  checked: string | undefined,
): Promise<void> {
  const row = await lockedUser(transaction, user)
  if (checked !== undefined && row?.['password'] !== checked)
    throw new TypeError('keys.create: the password of the caller has changed')
  const { enabled = null } = row ?? {}
  // Under snapshot isolation, a transaction that has waited for a lock does not see what was inserted meanwhile. After a
  // write it is repeated.
  if (enabled !== null) await table(transaction, users).change({ user }, { enabled })
}

/**
 * Locks the key of the caller. Throws a TypeError if it was revoked since the request was authenticated: the sessions of
 * the key were revoked with it.
 */
async function requireActive(
  transaction: StorageTransaction,
  { keyId }: Principal,
  at: Date,
): Promise<void> {
  if (keyId === null || !isUuid(keyId)) return
  const [found] = await filterFitting(transaction, keys, {
    ...{ conditions: [equal('keyId', keyId)], search: null, limit: 1, offset: 0, count: false },
    ...{ sort: [{ field: 'hash', descending: false }], select: keys.allNames, lock: true },
  })
  if (found === undefined) return
  if (!('row' in found) || inactiveReason(storedKey(found.row), at) !== undefined)
    throw new TypeError('keys.create: the key of the caller is no longer active')
  const { hash, user } = storedKey(found.row)
  // As in requirePassword.
  await table(transaction, keys).change({ hash }, { user })
}

/**
 * Removes the sessions of a user that have ended, of which the audit trail remains, and revokes the oldest active ones if
 * there are too many.
 */
async function makeRoom(
  transaction: StorageTransaction,
  user: string,
  moment: Moment,
): Promise<void> {
  const where = { user, purpose: 'session' }
  const isEnded = (key: StoredKey) => inactiveReason(key, moment.at) !== undefined
  const sessions = (await readableKeys(transaction, where)).toSorted(byAge)
  for (const { hash } of sessions.filter(isEnded)) await table(transaction, keys).remove({ hash })
  const active = sessions.filter((key) => !isEnded(key))
  for (const key of active.slice(0, 1 - maxSessions)) await revokeKey(transaction, key, moment)
}

function byAge(left: StoredKey, right: StoredKey): number {
  return Date.parse(left.created) - Date.parse(right.created)
}

/** Returns the provider of the caller's key, or else the first one. */
function sessionProvider(context: Context, { provider }: Principal): KeyProvider | undefined {
  const enabled = keyProvidersOf(context).filter(({ enabled = true }) => enabled)
  return enabled.find(({ name }) => name === provider) ?? enabled[0]
}

function rules(context: Context) {
  return [
    error<object>('known-account', {
      events: ['Insert'],
      check: async (_, { principal }) => {
        const { user } = principal
        const found =
          user === null ? undefined : await context.host().service.security.findUser(user)
        if (found === undefined)
          return 'Your account is not a user of this service, so it can have no session.'
        return hasRightsOf(principal, found)
          ? undefined
          : 'Your credential gives you other rights than the user of this name has, so it can have no session.'
      },
    }),
    error<object>('no-second-session', {
      events: ['Insert'],
      check: async (_, { principal: { keyId } }) => {
        const isSecond = keyId !== null && (await keyOf(context, keyId))?.isSession === true
        return isSecond ? 'A session cannot create another one. Sign in again.' : undefined
      },
    }),
    error<object>('ending-key', {
      events: ['Insert'],
      check: async (_, { principal }) =>
        (await minutesLeft(context, principal)) < 1
          ? 'Your key expires in less than a minute, so it can have no session.'
          : undefined,
    }),
  ]
}

/**
 * Returns whether a caller has the rights of a user. A credential of another system, such as a token, may name a user whose
 * rights its owner does not have.
 */
function hasRightsOf(caller: Principal, { roles, attributes }: User): boolean {
  const names = Object.keys(attributes)
  return (
    new Set(caller.roles).size === roles.length &&
    roles.every((role) => caller.roles.includes(role)) &&
    Object.keys(caller.attributes).length === names.length &&
    names.every((name) => caller.attributes[name] === attributes[name])
  )
}

function sessionItem(context: Context, item: KeyItem, caller: Principal): object {
  const { keyId, user, start, created, expires, lastUsed } = item
  const provider = keyProvidersOf(context).find(({ name }) => name === item.provider)
  return {
    ...{ keyId, user, start, created, expires, lastUsed },
    header: headerOf(provider),
    isCurrent: caller.keyId === keyId,
    ...{ key: null, expiresIn: null },
  }
}

/** Returns the name of the header for the keys of a provider. */
export function headerOf(provider: KeyProvider | undefined): string {
  const { record } = (provider ?? {}) as Partial<Pick<ApiKeyProvider, 'record'>>
  return record?.properties.HttpHeaderName ?? 'X-API-Key'
}
