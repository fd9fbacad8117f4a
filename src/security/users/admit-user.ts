import { principal, type Principal } from '../../definition/principal.ts'
import type { Rejected } from '../provider.ts'
import type { User } from './user-store.ts'

/**
 * Returns the principal of a user whom a provider has identified, by an API key or otherwise. A missing or
 * disabled user is rejected.
 */
export function admitUser(
  found: User | undefined,
  provider: string,
  keyId: string | null = null,
): Principal | Rejected {
  if (found === undefined) return unknownUser
  const { user, enabled, roles, attributes } = found
  if (!enabled) return { rejected: 'user-disabled', user }
  return principal(user, { roles, attributes, provider, keyId })
}

// Without the name: users type passwords into the wrong field.
const unknownUser: Rejected = Object.freeze({ rejected: 'user-unknown' })
