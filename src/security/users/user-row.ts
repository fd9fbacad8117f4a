import { isPlainObject } from '../../checks/plain-object.ts'
import { isFlat, type Attributes } from '../../definition/principal.ts'
import type { Row } from '../../storage/adapter.ts'
import { keepLatest } from '../../keep-latest.ts'
import type { Account, User } from './user-store.ts'

/** Converts rows to users. */
export interface UserReader {
  account(row: Row): Account
  user(row: Row): User
}

const maxCached = 1_000

/**
 * Creates a converter from rows to users. It caches parsed roles and attributes by their JSON text, since
 * requests and users share them. Throws for a row that the library did not write.
 */
export function userReader(): UserReader {
  const rolesOf = cached(parseRoles)
  const attributesOf = cached(parseAttributes)
  const user = (row: Row): User => ({
    user: row['user'] as string,
    enabled: row['enabled'] as boolean,
    roles: rolesOf(row['roles'] as string),
    attributes: attributesOf(row['attributes'] as string),
  })
  return {
    account: (row) => {
      const password = (row['password'] ?? null) as string | null
      return Object.freeze(Object.assign(user(row), { password }))
    },
    user: (row) => Object.freeze(user(row)),
  }
}

/** Returns whether a value is a list of roles: distinct, non-empty strings. */
export function isRoles(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || new Set(value).size !== value.length) return false
  return value.every((role) => typeof role === 'string' && role !== '' && role.isWellFormed())
}

/** Returns whether a value is an object of flat values whose names are not those of `Object.prototype`. */
export function isAttributes(value: unknown): value is Attributes {
  return (
    isPlainObject(value) &&
    Object.keys(value).every(
      (name) => name !== '' && !(name in Object.prototype) && isFlat(value[name]),
    )
  )
}

function parseRoles(text: string): readonly string[] {
  const roles: unknown = JSON.parse(text)
  if (isRoles(roles)) return Object.freeze(roles)
  throw new TypeError('The stored roles of a user are not a list of distinct strings.')
}

function parseAttributes(text: string): Attributes {
  const attributes: unknown = JSON.parse(text)
  if (isAttributes(attributes)) return Object.freeze(attributes)
  throw new TypeError('The stored attributes of a user are not an object of flat values.')
}

function cached<Value>(parse: (text: string) => Value): (text: string) => Value {
  const cache = new Map<string, Value>()
  return (text) => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const parsed = parse(text)
    keepLatest(cache, text, parsed, maxCached)
    return parsed
  }
}
