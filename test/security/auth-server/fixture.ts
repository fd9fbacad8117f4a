import type { Principal } from '../../../src/definition/principal.ts'
import { authServer, type AuthServerOptions } from '../../../src/entries/auth-server.ts'
import type { Rejected, SecurityProvider } from '../../../src/security/provider.ts'
import { contextOf, people, requestWith, type People } from '../basic/context.ts'
import { audience, issuer, now } from './authority.ts'

/** The options of a case: where the keys are, and what differs. */
export type Options = Partial<AuthServerOptions> & Pick<AuthServerOptions, 'jwks'>

/** A provider for the tokens of the cases. */
export function provider(options: Options): SecurityProvider {
  return authServer({ issuer, audience, ...options })
}

/** Returns the caller of a token, by default at the time of the cases. */
export async function ask(
  given: SecurityProvider,
  token: string,
  at: Date = now,
  users: People = people(),
): Promise<Principal | Rejected | undefined> {
  const credential = given.find(requestWith(`Bearer ${token}`))
  if (credential === undefined) throw new Error('There was no credential.')
  return given.identify(
    credential,
    contextOf(users, () => at),
  )
}
