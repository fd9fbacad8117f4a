import { principal, type Principal } from '../../definition/principal.ts'
import type { Rejected } from '../provider.ts'
import type { User } from './user-store.ts'

/**
 * The principal of a user whom a provider has recognized, by an API key or otherwise; rejected when the
 * user may not ask (D46).
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

// Without the name that was given: people type their password into the wrong field.
const unknownUser: Rejected = Object.freeze({ rejected: 'user-unknown' })
