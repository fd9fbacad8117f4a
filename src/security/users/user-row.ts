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
    roles: rolesOf(row['roles'] as string) ?? unfit(row, 'roles', 'a list of distinct strings'),
    attributes:
      attributesOf(row['attributes'] as string) ??
      unfit(row, 'attributes', 'an object of flat values'),
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

/** Returns whether a value is an object of flat values without names of `Object.prototype`. */
export function isAttributes(value: unknown): value is Attributes {
  return (
    isPlainObject(value) &&
    Object.keys(value).every(
      (name) => name !== '' && !(name in Object.prototype) && isFlat(value[name]),
    )
  )
}

function unfit(row: Row, field: string, mustBe: string): never {
  throw new TypeError(`The stored ${field} of the user ${String(row['user'])} are not ${mustBe}.`)
}

function parseRoles(text: string): readonly string[] | undefined {
  const roles = parsed(text)
  return isRoles(roles) ? Object.freeze(roles) : undefined
}

function parseAttributes(text: string): Attributes | undefined {
  const attributes = parsed(text)
  return isAttributes(attributes) ? Object.freeze(attributes) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function cached<Value>(
  parse: (text: string) => Value | undefined,
): (text: string) => Value | undefined {
  const cache = new Map<string, Value>()
  return (text) => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const value = parse(text)
    if (value !== undefined) keepLatest(cache, text, value, maxCached)
    return value
  }
}
