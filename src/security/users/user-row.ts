import type { Attributes } from '../../definition/principal.ts'
import type { Row } from '../../storage/adapter.ts'
import { keepLatest } from '../keep-latest.ts'
import type { Account, User } from './user-store.ts'

/** Reads users from their rows. */
export interface UserReader {
  account(row: Row): Account
  user(row: Row): User
}

const mostKept = 1_000

/**
 * Reads users. Roles and attributes are parsed once for each text, since many users, and every request
 * of one, have the same: what is kept depends on nothing but the text. Throws for a row that the
 * library did not write.
 */
export function userReader(): UserReader {
  const rolesOf = remembering(parseRoles)
  const attributesOf = remembering(parseAttributes)
  const user = (row: Row): User => ({
    user: row['user'] as string,
    enabled: row['enabled'] as boolean,
    roles: rolesOf(row['roles'] as string),
    attributes: attributesOf(row['attributes'] as string),
  })
  return {
    account: (row) =>
      Object.freeze({ ...user(row), password: (row['password'] ?? null) as string | null }),
    user: (row) => Object.freeze(user(row)),
  }
}

/** Whether a value is a list of roles: distinct, not empty. */
export function isRoles(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || new Set(value).size !== value.length) return false
  return value.every((role) => typeof role === 'string' && role !== '' && role.isWellFormed())
}

/** Whether a value is an object of flat values under names of their own. */
export function isAttributes(value: unknown): value is Attributes {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(
    ([name, one]) =>
      name !== '' &&
      !(name in Object.prototype) &&
      (one === null ||
        typeof one === 'boolean' ||
        typeof one === 'string' ||
        (typeof one === 'number' && Number.isFinite(one))),
  )
}

function parseRoles(text: string): readonly string[] {
  const roles: unknown = JSON.parse(text)
  if (isRoles(roles)) return Object.freeze(roles)
  throw new TypeError('The roles of a user in storage are not a list of distinct texts.')
}

function parseAttributes(text: string): Attributes {
  const attributes: unknown = JSON.parse(text)
  if (isAttributes(attributes)) return Object.freeze(attributes)
  throw new TypeError('The attributes of a user in storage are not an object of flat values.')
}

function remembering<Value>(parse: (text: string) => Value): (text: string) => Value {
  const kept = new Map<string, Value>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const parsed = parse(text)
    keepLatest(kept, text, parsed, mostKept)
    return parsed
  }
}
