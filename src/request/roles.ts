import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { forbidden, isServiceError } from '../errors.ts'

/** Throws FORBIDDEN unless the roles of the caller allow the event. */
export function requireRight(
  { rolesFor, application, name }: PublishedCollection,
  event: keyof PublishedCollection['rolesFor'],
  caller: Principal,
): void {
  if (caller.kind === 'system') return
  for (const roles of rolesFor[event]) {
    if (holdsOneOf(caller, roles)) continue
    const held = caller.roles.length === 0 ? 'no roles' : caller.roles.join(', ')
    const reason = `${event} of ${application}/${name} needs one of the roles ${roles.join(', ')}; the caller has ${held}`
    throw forbidden({ user: caller.user, reason })
  }
}

/** Returns whether the roles of the caller allow the event. */
export function hasRight(
  { rolesFor }: PublishedCollection,
  event: keyof PublishedCollection['rolesFor'],
  caller: Principal,
): boolean {
  return caller.kind === 'system' || rolesFor[event].every((roles) => holdsOneOf(caller, roles))
}

/** Returns what work returns; undefined if it throws FORBIDDEN. */
export function unlessForbidden<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'FORBIDDEN') return undefined
    throw error
  }
}

/** Returns whether the caller has one of the roles. */
export function holdsOneOf(caller: Principal, roles: readonly string[]): boolean {
  return roles.some((role) => caller.roles.includes(role))
}
