import type { Principal } from '../definition/principal.ts'
import type { Credentials } from '../event/request.ts'
import { ServiceError } from '../errors.ts'

/** The port of security: finds out who asks (section 5). */
export interface SecurityProvider {
  readonly name: string
  /** The principal behind the credentials; undefined when they are none of this provider's. */
  authenticate(credentials: Credentials): Principal | undefined | Promise<Principal | undefined>
}

/** Asks the providers in their order. Throws UNAUTHENTICATED when none knows the caller (D25). */
export async function authenticate(
  providers: readonly SecurityProvider[],
  credentials: Credentials,
): Promise<Principal> {
  for (const provider of providers) {
    const answer = provider.authenticate(credentials)
    const principal = answer instanceof Promise ? await answer : answer
    if (principal !== undefined) return principal
  }
  throw new ServiceError('UNAUTHENTICATED', 'Valid credentials are required.', {
    headers: { 'WWW-Authenticate': 'ApiKey' },
  })
}
