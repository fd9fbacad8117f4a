import { isStorageError, type Row, type StorageTransaction } from '../../storage/adapter.ts'
import { filterTable } from '../../storage/table.ts'
import { equal } from '../../request/query.ts'
import type { Attributes } from '../../definition/principal.ts'
import type { RecordedChanges } from '../audit-filter.ts'
import { securityCollections } from '../collections.ts'
import { isAttributes, isRoles } from './user-row.ts'

const { users } = securityCollections

/** The fields of a user that a sign-in or a change needs: all but the time of creation. */
export const accountFields: readonly string[] = Object.freeze(
  users.allNames.filter((name) => name !== 'created'),
)

/**
 * Reads the fields of an account, which no other transaction changes until the end of this one. Undefined for an unknown user,
 * and for one with stored values that do not fit: a change can correct these.
 */
export async function lockedUser(
  transaction: StorageTransaction,
  user: string,
): Promise<Row | undefined> {
  try {
    const { rows } = await filterTable(transaction, users, {
      conditions: [equal('user', user)],
      search: null,
      sort: [{ field: 'user', descending: false }],
      limit: 1,
      offset: 0,
      select: accountFields,
      count: false,
      lock: true,
    })
    return rows[0]
  } catch (error) {
    if (isStorageError(error) && error.kind === 'unfit') return undefined
    throw error
  }
}

const noRow: Row = Object.freeze({ enabled: true, roles: '[]', attributes: '{}', password: null })

/** Returns what a new user has besides a name. */
export function changesOfNew(row: Row): RecordedChanges {
  const { user: _user, created: _created, ...values } = row
  return changesBetween(noRow, values)
}

/** Returns what changes a user. If the user before is unknown, everything that is given changes. */
export function changesBetween(before: Row | undefined, values: Row): RecordedChanges {
  const names = ['enabled', 'roles', 'attributes', 'password']
  const isChanged = (name: string): boolean =>
    name in values && (before === undefined || !isSame(before[name], values[name]))
  const [former, given] = [rolesIn(before), rolesIn(values)]
  const changed = names.filter(isChanged)
  const hasRoles = changed.includes('roles')
  return {
    changed,
    addedRoles: hasRoles ? given.filter((role) => !former.includes(role)) : [],
    removedRoles: hasRoles ? former.filter((role) => !given.includes(role)) : [],
  }
}

function isSame(before: Row[string] | undefined, after: Row[string] | undefined): boolean {
  if (before === after) return true
  // The database may write JSON in another form.
  const [one, other] = [parsed(before), parsed(after)]
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other)
}

/** Returns the roles of a row; none if they can't be read. */
export function rolesIn(row: Row | undefined): readonly string[] {
  const roles = parsed(row?.['roles'])
  return isRoles(roles) ? roles : []
}

/** Returns the attributes of a row; none if they can't be read. */
export function attributesIn(row: Row): Attributes {
  const attributes = parsed(row['attributes'])
  return isAttributes(attributes) ? attributes : {}
}

function parsed(text: Row[string] | undefined): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
