import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, instant, integer, json, text, uuid } from '../definition/field.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { FilterCall, InsertCall, UpdateCall } from '../definition/serve.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { equal, type Condition } from '../request/query.ts'
import type { NewKey } from '../security/keys/key-store.ts'
import { readRequests } from '../security/keys/request-counts.ts'
import { rightsOf, type Context } from './context.ts'
import { guarded, rejectionsOf } from './guard.ts'
import { isSession, keyTable, notRevoked, type KeyItem } from './key-items.ts'
import { keyRules, type KeyDraft } from './key-rules.ts'
import { hasValue, itemOf, pageOf } from './pages.ts'
import { orRejected } from './refused.ts'

const record = {
  keyId: uuid({ readOnly: true }),
  user: text({ maxLength: 200 }),
  provider: text({ maxLength: 200, search: false, description: 'The name of the provider.' }),
  start: text({ readOnly: true, description: 'The first characters of the key.' }),
  description: text({ maxLength: 200, pattern: '^[^\\p{Cc}]*$' }),
  created: instant({ readOnly: true }),
  expires: instant({ description: 'A change can only make it earlier.' }),
} as const

const uses = {
  firstUsed: instant({ readOnly: true }),
  lastUsed: instant({ readOnly: true, description: 'Accurate to a minute.' }),
  isSession: boolean({
    readOnly: true,
    description: 'Whether it is a session. Pages contain sessions only if they are filtered by it.',
  }),
  requests: json({
    readOnly: true,
    itemOnly: true,
    description:
      'The requests by day of UTC: a list, the oldest day first. Null for a session, whose requests are not counted.',
  }),
} as const

const onlySent = { readableBy: [], writableBy: 'everyone' } as const

/** Returns the collection of the keys that are not revoked. */
export function keyCollection(context: Context): CollectionDefinition {
  const table = () => keyTable(context, [notRevoked])
  const item = (keyId: string) => withRequests(context, itemOf(table(), equal('keyId', keyId)))
  return defineCollection(
    {
      description: 'API keys that are not revoked. An insert creates a key, and shows it once.',
      key: 'keyId',
      defaultSort: ['created'],
      eventRoles: rightsOf(context, 'keys', ['Filter', 'Insert', 'Update', 'Delete']),
      fields: {
        ...record,
        ...uses,
        state: text({ readOnly: true, search: false, enumeration: ['active', 'expired'] }),
        key: text({
          readOnly: true,
          itemOnly: true,
          description: 'The key, only in the response of the insert.',
        }),
        expiresIn: integer({
          ...onlySent,
          minimum: 1,
          description: 'Minutes. Only for a new key.',
        }),
        rotates: uuid({ ...onlySent, description: 'The key that the new key replaces.' }),
        overlap: integer({
          ...onlySent,
          minimum: 0,
          description: 'The minutes for which the replaced key stays active. Default 0.',
        }),
      },
    },
    {
      validations: keyRules(context),
      serve: {
        filter: (call) => asStorageCall(call, () => keyPage(context, call, notRevoked)) as never,
        get: (call) => asStorageCall(call, () => item(call.key)) as never,
        insert: (call) =>
          asStorageCall(call, async () => {
            const made = await insertKey(context, call as never)
            return { ...(await item(made.keyId)), key: made.key }
          }) as never,
        update: (call) =>
          asStorageCall(call, async () => {
            await changeKey(context, call as never)
            return item(call.key)
          }) as never,
        delete: (call) =>
          asStorageCall(call, async () => {
            const found = await item(call.key)
            if (found === undefined) return false
            const { keys } = context.host().service.security
            const rejects = rejectionsOf(context, undefined, call.reject)
            const by = guarded(context, call.principal, { user: found.user, ...rejects })
            await keys.revoke(call.key, by)
            return true
          }),
      },
    },
  )
}

/** Returns the collection of the keys that were revoked. */
export function revokedKeyCollection(context: Context): CollectionDefinition {
  const revoked = hasValue('revoked', true)
  return defineCollection(
    {
      description: 'API keys that were revoked.',
      key: 'keyId',
      defaultSort: ['-revoked'],
      eventRoles: rightsOf(context, 'revoked-keys', ['Filter']),
      fields: { ...record, revoked: instant(), ...uses },
    },
    {
      serve: {
        filter: (call) => asStorageCall(call, () => keyPage(context, call, revoked)) as never,
        get: (call) =>
          asStorageCall(call, () => {
            const table = keyTable(context, [revoked])
            return withRequests(context, itemOf(table, equal('keyId', call.key)))
          }) as never,
      },
    },
  )
}

async function withRequests(context: Context, reading: Promise<KeyItem | undefined>) {
  const item = await reading
  if (item === undefined || item.isSession) return item
  const { storage, now } = context.host()
  return { ...item, requests: await readRequests(storage, item.keyId, now()) }
}

function keyPage(context: Context, call: FilterCall<CollectionShape>, base: Condition) {
  const named = 'isSession' in call.conditions
  return pageOf(keyTable(context, named ? [base] : [base, isSession(false)]), call)
}

type Insertion = Omit<InsertCall<CollectionShape>, 'item' | 'reject'> & {
  readonly item: KeyDraft
  readonly reject: (message: string, field?: string) => never
}

async function insertKey(context: Context, call: Insertion): Promise<NewKey> {
  const { user, provider, description, expiresIn, rotates, overlap } = call.item
  const { keys } = context.host().service.security
  const life = expiresIn === null ? {} : { expiresIn }
  const retry = (): never =>
    call.reject('The key or its user was changed at the same time. Try again.')
  if (rotates !== null) {
    const old = await itemOf(keyTable(context, [notRevoked]), equal('keyId', rotates))
    if (old === undefined) return call.reject('There is no such key.', 'rotates')
    const rejects = rejectionsOf(context, 'rotates', call.reject)
    const by = guarded(context, call.principal, { user: old.user, ...rejects })
    const named = description === null ? {} : { description }
    const rotation = { ...life, ...named, overlap: overlap ?? 0 }
    return orRejected(() => keys.rotate(rotates, rotation, by), retry)
  }
  const owner = user ?? ''
  const rejects = rejectionsOf(context, 'user', call.reject)
  const by = guarded(context, call.principal, { user: owner, ...rejects })
  const request = { user: owner, ...(description !== null && { description }), ...life }
  return orRejected(
    () => keys.create({ ...request, ...(provider !== null && { provider }) }, by),
    retry,
  )
}

async function changeKey(
  context: Context,
  call: Omit<UpdateCall<CollectionShape>, 'key' | 'stored' | 'changes' | 'reject'> & {
    readonly key: string
    readonly stored: KeyItem
    readonly changes: Partial<KeyDraft>
    readonly reject: (message: string, field?: string) => never
  },
): Promise<void> {
  const { changes, stored } = call
  const { keys } = context.host().service.security
  const rejects = rejectionsOf(context, 'expires', call.reject)
  const by = guarded(context, call.principal, { user: stored.user, ...rejects })
  const given = {
    ...(changes.description !== undefined && { description: changes.description }),
    ...((changes.expires ?? null) !== null && { expires: changes.expires as string }),
  }
  await orRejected(
    () => keys.change(call.key, given, by),
    () => call.reject('The key was changed at the same time. Try again.'),
  )
}
