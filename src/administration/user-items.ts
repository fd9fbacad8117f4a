import { equal, type Row } from '../request/query.ts'
import { securityCollections } from '../security/collections.ts'
import { sha256 } from '../security/keys/key-text.ts'
import { accountFields, attributesIn, rolesIn } from '../security/users/user-changes.ts'
import { userReader } from '../security/users/user-row.ts'
import { unfitRows, type Context } from './context.ts'
import { hasValue, itemOf, type ServedTable } from './pages.ts'

/** A user, as administration publishes it. */
export interface UserItem {
  readonly user: string
  readonly enabled: boolean
  readonly roles: readonly string[]
  readonly attributes: Readonly<Record<string, string | number | boolean | null>> | null
  readonly hasPassword: boolean
  readonly passwordVersion: string | null
  readonly created: string | null
  /** Whether the stored values could be read. If not, the others stand for them, and the user can't sign in. */
  readonly isReadable: boolean
  /** Only in a request. */
  readonly password: string | null
}

const reader = userReader()

/** Returns the table of the built-in users. */
export function userTable(context: Context): ServedTable<UserItem> {
  const report = unfitRows(context, 'users')
  return {
    storage: context.host().storage,
    collection: securityCollections.users,
    where: [],
    stored: ['user', 'enabled', 'created'],
    condition: (field, value) =>
      field === 'hasPassword' && typeof value === 'boolean'
        ? hasValue('password', value)
        : undefined,
    itemOf: (row) => itemOfRow(row, report),
    unfit: report,
    partly: accountFields,
    // Without the time of its creation, an account is as good as any other.
    unfitItem: (known) =>
      'roles' in known
        ? itemOfRow({ ...known, created: null }, report)
        : {
            ...{ user: known['user'] as string, enabled: false, roles: [], attributes: {} },
            ...{
              hasPassword: false,
              passwordVersion: null,
              created: null,
              isReadable: false,
              password: null,
            },
          },
  }
}

/** Returns a user; undefined if there is none. */
export function userItem(context: Context, user: string): Promise<UserItem | undefined> {
  return itemOf(userTable(context), equal('user', user))
}

/** Returns the user of a row as it is published. */
export function itemOfRow(row: Row, report: (error: unknown) => void = () => undefined): UserItem {
  let isReadable = true
  try {
    reader.user(row)
  } catch (error) {
    isReadable = false
    report(error)
  }
  const password = row['password'] ?? null
  return {
    user: row['user'] as string,
    enabled: row['enabled'] as boolean,
    roles: rolesIn(row),
    attributes: attributesIn(row),
    hasPassword: password !== null,
    passwordVersion: password === null ? null : sha256(String(password)).slice(0, 12),
    created: row['created'] as string | null,
    isReadable,
    password: null,
  }
}
