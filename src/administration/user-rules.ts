import type { Principal } from '../definition/principal.ts'
import { error, warning, type Validation } from '../definition/validation.ts'
import { isPassword } from '../security/basic/password.ts'
import { isAttributes, isRoles } from '../security/users/user-row.ts'
import { missingRoles, type Context } from './context.ts'
import { lackedText } from './guard.ts'
import { isNamed } from './roles.ts'
import { userItem, type UserItem } from './user-items.ts'

type Item = { readonly [Name in keyof UserItem]: unknown }
type Rule = Validation<Item>

/** Returns the rules of users. */
export function userRules(context: Context): readonly Rule[] {
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
