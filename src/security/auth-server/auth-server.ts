import { principal, type Principal } from '../../definition/principal.ts'
import { admitUser } from '../users/admit-user.ts'
import { completeAuthServer, type AuthServerOptions } from './auth-server-options.ts'
import { readClaims, tokenCheck } from './bearer-token.ts'
import { authorizationFinder } from '../find-authorization.ts'
import type { Rejected, SecurityContext, SecurityProvider } from '../provider.ts'

export type { AuthServerOptions } from './auth-server-options.ts'

/**
 * Creates a provider that authenticates by the bearer tokens of an external authorization server (RFC
 * 6750): signed JSON Web Tokens whose signature, `iss`, `aud`, `exp` and `nbf` are verified on every
 * request. While the server's keys can't be fetched, the service responds 503. Throws a TypeError that
 * lists every mistake in the options.
 */
export function authServer(options: AuthServerOptions): SecurityProvider {
  const complete = completeAuthServer(options)
  const { name, priority, enabled, allowInsecureHttp, users } = complete
  const check = tokenCheck(complete)

  return Object.freeze({
    name,
    priority,
    enabled,
    type: 'auth_server',
    challenge: 'Bearer',
    allowInsecureHttp,
    keeps: Object.freeze(users === 'known' ? (['users'] as const) : []),
    find: authorizationFinder('Bearer'),
    async identify({ value }, context: SecurityContext): Promise<Principal | Rejected> {
      const checked = await check(value, context.now())
      if ('rejected' in checked) return checked
      const caller = readClaims(checked.claims, complete)
      if (caller === undefined) return malformed
      if (users === 'known') return admitUser(await context.users.find(caller.user), name)
      const { user, roles, attributes } = caller
      return principal(user, { roles, attributes, provider: name })
    },
  } satisfies SecurityProvider)
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
