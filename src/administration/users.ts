import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import type { Principal } from '../definition/principal.ts'
import { boolean, instant, json, text } from '../definition/field.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import type { ActorOption } from '../security/actor.ts'
import { rightsOf, type Context } from './context.ts'
import { guarded, rejectionsOf } from './guard.ts'
import { pageOf } from './pages.ts'
import { orRejected } from './refused.ts'
import { itemOfRow, userItem, userTable, type UserItem } from './user-items.ts'
import { userRules } from './user-rules.ts'

const fields = (context: Context) => {
  const { administrator, auditor, auditorReadsAttributes } = context.options.roles
  const readers = auditor !== undefined && auditorReadsAttributes ? [auditor] : []
  return {
    user: text({ minLength: 1, maxLength: 200, pattern: '^[^\\p{Cc}]*$' }),
    enabled: boolean({ required: true, default: true }),
    roles: json({ required: true, default: [], description: 'A list of strings.' }),
    attributes: json({
      default: {},
      readableBy: [administrator, ...readers],
      writableBy: [administrator],
      description: 'An object of strings, numbers, booleans and null.',
    }),
    hasPassword: boolean({ description: 'False removes the password.' }),
    passwordVersion: text({
      readOnly: true,
      search: false,
      includeByDefault: false,
      description: 'Another value after each change of the password.',
    }),
    created: instant({ readOnly: true }),
    isReadable: boolean({
      readOnly: true,
      description:
        'False if another program has written values that cannot be read. The user cannot sign in. An update of the user writes them again.',
    }),
    password: text({
      readableBy: [],
      writableBy: 'everyone',
      maxLength: 1024,
      search: false,
      description: 'A new password. No response contains it.',
    }),
  } as const
}

/** Returns the collection of the built-in users. */
export function userCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'Users. They are stored by the service.',
      key: 'user',
      concurrency: { ifMatch: 'optional' },
      eventRoles: rightsOf(context, 'users', ['Filter', 'Insert', 'Update', 'Delete']),
      fields: fields(context),
    },
    {
      validations: userRules(context),
      serve: {
        filter: (call) => asStorageCall(call, () => pageOf(userTable(context), call)) as never,
        get: (call) => asStorageCall(call, () => userItem(context, call.key)) as never,
        insert: (call) =>
          asStorageCall(call, async () => {
            const { user, enabled, roles, attributes, password } = call.item as unknown as UserItem
            const { users } = context.host().service.security
            const rejects = rejectionsOf(context, 'roles', call.reject)
            const by = guarded(context, call.principal, { user, ...rejects })
            const given = { user, enabled, roles, attributes: attributes ?? {} }
            const made = { ...given, ...(password !== null && { password }) }
            await orRejected(
              () => users.add(made, by),
              () => call.reject('A user with this name exists already.', 'user'),
            )
            return userItem(context, user)
          }) as never,
        update: (call) =>
          asStorageCall(call, async () => {
            const { key, item, changes, reject } = call as unknown as UserUpdate
            const field =
              'roles' in changes ? 'roles' : 'enabled' in changes ? 'enabled' : 'hasPassword'
            const by = guardOf(context, call as never, field)
            const { users } = context.host().service.security
            if ((await userItem(context, key)) === undefined) return undefined
            const { enabled, roles, attributes, isReadable } = item
            // Values that can't be read are written again.
            const whole = isReadable ? {} : { enabled, roles, attributes }
            await orRejected(
              () => users.change(key, changesOf({ ...whole, ...changes }), by),
              () => reject(changedText),
            )
            return userItem(context, key)
          }) as never,
        delete: (call) =>
          asStorageCall(call, async () => {
            const by = guardOf(context, call as never, undefined)
            const { users } = context.host().service.security
            if ((await userItem(context, call.key)) === undefined) return false
            await orRejected(
              () => users.remove(call.key, by),
              () => call.reject(changedText),
            )
            return true
          }),
      },
    },
  )
}

interface UserChange {
  readonly key: string
  readonly principal: Principal
  /** The user as the rules have seen it, and `If-Match`. */
  readonly stored: UserItem
  readonly reject: (message: string, field?: string) => never
}

interface UserUpdate extends UserChange {
  readonly item: UserItem
  readonly changes: Partial<UserItem>
}

const changedText = 'The user was changed at the same time. Try again.'

function guardOf(
  context: Context,
  { key, principal, stored, reject }: UserChange,
  field: string | undefined,
): ActorOption {
  return guarded(context, principal, {
    user: key,
    ...rejectionsOf(context, field, reject),
    found: (row) => {
      if (stateOf(itemOfRow(row)) !== stateOf(stored)) reject(changedText)
    },
  })
}

function stateOf({ enabled, roles, attributes, passwordVersion }: UserItem): string {
  return JSON.stringify([enabled, roles, attributes, passwordVersion])
}

function changesOf({ enabled, roles, attributes, hasPassword, password }: Partial<UserItem>) {
  return {
    ...(enabled !== undefined && { enabled }),
    ...(roles !== undefined && { roles }),
    ...(attributes !== undefined && { attributes: attributes ?? {} }),
    ...(hasPassword === false && { password: null }),
    ...((password ?? null) !== null && { password: password as string }),
  }
}
