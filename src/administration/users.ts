import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, instant, json, text } from '../definition/field.ts'
import type { Principal } from '../definition/principal.ts'
import { error, warning, type Validation } from '../definition/validation.ts'
import { asStorageCall } from '../events/storage-calls.ts'
import { equal, type Row } from '../request/query.ts'
import { securityCollections } from '../security/collections.ts'
import { isPassword } from '../security/basic/password.ts'
import { isAttributes, isRoles } from '../security/users/user-row.ts'
import { missingRoles, rightsOf, type Context } from './context.ts'
import { guarded, type Rejections } from './guard.ts'
import { hasValue, itemOf, pageOf, type ServedTable } from './pages.ts'
import { isNamed } from './roles.ts'
import { orRejected } from './refused.ts'

const { users: stored } = securityCollections

/** A user, as administration publishes it. */
interface UserItem {
  readonly user: string
  readonly enabled: boolean
  readonly roles: readonly string[]
  readonly attributes: Readonly<Record<string, string | number | boolean | null>> | null
  readonly hasPassword: boolean
  readonly created: string
  /** Only in a request. */
  readonly password: string | null
}

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
    created: instant({ readOnly: true }),
    password: text({
      readableBy: [],
      writableBy: 'everyone',
      maxLength: 1024,
      search: false,
      description: 'A new password. No response contains it.',
    }),
  } as const
}

type Item = { readonly [Name in keyof UserItem]: unknown }
type Rule = Validation<Item>

const lastText = (role: string) =>
  `At least one enabled user with the role ${role} and a usable credential must remain.`

/** Returns the collection of the built-in users. */
export function userCollection(context: Context): CollectionDefinition {
  const collection = defineCollection(
    {
      description: 'Users. They are stored by the service.',
      key: 'user',
      eventRoles: rightsOf(context, 'users', ['Filter', 'Insert', 'Update', 'Delete']),
      fields: fields(context),
    },
    {
      validations: rules(context),
      serve: {
        filter: (call) => asStorageCall(call, () => pageOf(tableOf(context), call)) as never,
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
            const { changes, key, principal } = call
            const field =
              'roles' in changes ? 'roles' : 'enabled' in changes ? 'enabled' : 'hasPassword'
            const rejects = rejectionsOf(context, field, call.reject)
            const by = guarded(context, principal, { user: key, ...rejects })
            const { users } = context.host().service.security
            if ((await userItem(context, key)) === undefined) return undefined
            await orRejected(
              () => users.change(key, changesOf(changes as Partial<UserItem>), by),
              () => call.reject('The user was changed at the same time. Try again.'),
            )
            return userItem(context, key)
          }) as never,
        delete: (call) =>
          asStorageCall(call, async () => {
            const rejects = rejectionsOf(context, undefined, call.reject)
            const by = guarded(context, call.principal, { user: call.key, ...rejects })
            const { users } = context.host().service.security
            if ((await userItem(context, call.key)) === undefined) return false
            await orRejected(
              () => users.remove(call.key, by),
              () => call.reject('The user was changed at the same time. Try again.'),
            )
            return true
          }),
      },
    },
  )
  return collection
}

/** Returns how a change is rejected within its transaction. */
export function rejectionsOf<Field extends string>(
  { options }: Context,
  field: Field | undefined,
  reject: (message: string, field?: Field) => never,
): Rejections {
  const about = field === undefined ? [] : ([field] as const)
  return {
    lastAdministrator: () => reject(lastText(options.roles.administrator), ...about),
    lackedRole: (role) => reject(lackedText(role), ...about),
  }
}

/** Returns why a caller can't change a user, or a key of that user. */
export function lackedText(role: string): string {
  return `The user has the role ${role}, which you do not have.`
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

function tableOf({ host }: Context): ServedTable<UserItem> {
  return {
    storage: host().storage,
    collection: stored,
    where: [],
    stored: ['user', 'enabled', 'created'],
    condition: (field, value) =>
      field === 'hasPassword' && typeof value === 'boolean'
        ? hasValue('password', value)
        : undefined,
    itemOf: itemOfRow,
  }
}

function userItem(context: Context, user: string): Promise<UserItem | undefined> {
  return itemOf(tableOf(context), equal('user', user))
}

function itemOfRow(row: Row): UserItem {
  return {
    user: row['user'] as string,
    enabled: row['enabled'] as boolean,
    roles: JSON.parse(row['roles'] as string) as readonly string[],
    attributes: JSON.parse(row['attributes'] as string) as UserItem['attributes'],
    hasPassword: (row['password'] ?? null) !== null,
    created: row['created'] as string,
    password: null,
  }
}

function rules(context: Context): readonly Rule[] {
  return [
    error<Item>('attributes-form', {
      field: 'attributes',
      check: ({ attributes }) =>
        isAttributes(attributes ?? {})
          ? undefined
          : 'Attributes must be an object of strings, numbers, booleans and null.',
    }),
    error<Item>('roles-form', {
      field: 'roles',
      check: ({ roles }) =>
        isRoles(roles) ? undefined : 'Roles must be a list of different, non-empty strings.',
    }),
    ...passwordRules(context),
    ...escalationRules(context),
    error<Item>('new-name', {
      field: 'user',
      events: ['Insert'],
      check: async ({ user }) =>
        (await userItem(context, String(user))) === undefined
          ? undefined
          : 'A user with this name exists already.',
    }),
    ...ownRules,
    warning<Item>('unnamed-role', {
      field: 'roles',
      check: ({ roles }, { stored: before }) => {
        const unknown = added(roles, before?.roles).filter((role) => !isNamed(context, role))
        if (unknown.length === 0) return undefined
        return `No collection names the role ${unknown.join(', ')}.`
      },
    }),
  ]
}

function passwordRules({ facts }: Context): readonly Rule[] {
  return [
    error<Item>('password-form', {
      field: 'password',
      check: ({ user, password }) => {
        if ((password ?? null) === null) return undefined
        if (!facts.hasPasswords) return 'This service has no sign-in by password.'
        if (String(user).includes(':'))
          return 'A user with a colon in the name can have no password.'
        return isPassword(password)
          ? undefined
          : 'A password must have 1 to 1024 bytes and no control characters.'
      },
    }),
    error<Item>('has-password', {
      field: 'hasPassword',
      check: ({ password, hasPassword }, { stored: before }) => {
        const has = (password ?? null) !== null
        if (has && hasPassword === false && before?.hasPassword !== false)
          return 'Send a new password, or remove the password, but not both.'
        return hasPassword === true && !has && before?.hasPassword !== true
          ? 'Send the password.'
          : undefined
      },
    }),
  ]
}

function escalationRules(context: Context): readonly Rule[] {
  return [
    error<Item>('granted-role', {
      field: 'roles',
      check: ({ roles }, { principal, stored: before }) => {
        const [role] = missingRoles(context, principal, added(roles, before?.roles))
        return role && `You can't grant the role ${role}, because you do not have it.`
      },
    }),
    error<Item>('lacked-role', {
      field: 'user',
      events: ['Update', 'Delete'],
      check: (_, { principal, stored: before }) => {
        const [role] = missingRoles(context, principal, listOf(before?.roles))
        return role && lackedText(role)
      },
    }),
  ]
}

const isOwn = (item: Item, { user }: Principal): boolean => user !== null && item.user === user

const ownRules: readonly Rule[] = [
  warning<Item>('own-roles', {
    field: 'roles',
    events: ['Update'],
    check: (item, { principal, stored: before }) => {
      const former = listOf(before?.roles)
      const isSame = JSON.stringify(former) === JSON.stringify(item.roles)
      return isOwn(item, principal) && !isSame ? 'You are changing your own roles.' : undefined
    },
  }),
  warning<Item>('own-account', {
    field: 'enabled',
    events: ['Update'],
    check: (item, { principal, stored: before }) =>
      isOwn(item, principal) && before?.enabled === true && item.enabled === false
        ? 'You are disabling your own account.'
        : undefined,
  }),
  warning<Item>('own-removal', {
    events: ['Delete'],
    check: (item, { principal }) =>
      isOwn(item, principal) ? 'You are removing your own account.' : undefined,
  }),
]

function added(roles: unknown, before: unknown): readonly string[] {
  const former = listOf(before)
  return listOf(roles).filter((role) => !former.includes(role))
}

function listOf(roles: unknown): readonly string[] {
  return isRoles(roles) ? roles : []
}
