import type { Principal } from '../../definition/principal.ts'
import type { Refused } from '../provider.ts'
import type { User } from './user-store.ts'

/** The principal of a user whom a provider has recognized; refused when the user may not ask (D46). */
export function admitUser(found: User | undefined, provider: string): Principal | Refused {
  if (found === undefined) return unknownUser
  const { user, enabled, roles, attributes } = found
  if (!enabled) return { refused: 'user-disabled', user }
  return Object.freeze({
    user,
    roles: Object.isFrozen(roles) ? roles : Object.freeze([...roles]),
    attributes: Object.isFrozen(attributes) ? attributes : Object.freeze({ ...attributes }),
    provider,
    keyId: null,
  })
}

// Without the name that was given: people type their password into the wrong field.
const unknownUser: Refused = Object.freeze({ refused: 'user-unknown' })
