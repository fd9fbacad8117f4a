import { principal, type Principal } from '../../definition/principal.ts'
import { admitUser } from '../users/admit-user.ts'
import { completeAuthServer, type AuthServerOptions } from './auth-server-options.ts'
import { readClaims, tokenCheck } from './bearer-token.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { authorizationFinder } from '../find-authorization.ts'
import { verifiedTokens } from './verified-tokens.ts'
import type { Rejected, SecurityContext, SecurityProvider } from '../provider.ts'

/**
 * Creates a provider that authenticates by the bearer tokens of an external authorization server (RFC
 * 6750): signed JSON Web Tokens whose signature, `iss` and `aud` are verified once for each fetched key set,
 * and `exp` and `nbf` on every request. While the server's keys can't be fetched, the service responds 503.
 * Throws a TypeError that lists every mistake in the options.
 */
export function authServer(options: AuthServerOptions): SecurityProvider {
  const complete = completeAuthServer(options)
  const { name, priority, enabled, allowInsecureHttp, users } = complete
  const check = tokenCheck(complete)
  const verified = verifiedTokens<Principal>(complete)

  async function verify(token: string, context: SecurityContext): Promise<Principal | Rejected> {
    const checked = await check.verify(token, context.now())
    if ('rejected' in checked) return checked
    const caller = readClaims(checked.claims, complete)
    if (caller === undefined) return malformed
    const { user, roles, attributes } = caller
    const found = principal(user, { roles, attributes, provider: name })
    const { claims, keySet } = checked
    if (keySet !== undefined) verified.keep(token, { caller: found, claims, keySet })
    return admit(found, context)
  }

  /** Replaces the caller that a token describes with the user of that name, if users must be known. */
  function admit(caller: Principal, { users: known }: SecurityContext) {
    if (users === 'token' || caller.user === null) return caller
    return whenDone(known.find(caller.user), (user) => admitUser(user, name))
  }

  return Object.freeze({
    name,
    priority,
    enabled,
    type: 'auth_server',
    challenge: 'Bearer',
    allowInsecureHttp,
    keeps: Object.freeze(users === 'known' ? (['users'] as const) : []),
    find: authorizationFinder('Bearer'),
    identify({ value }, context): MaybePromise<Principal | Rejected> {
      const caller = verified.find(value, check.keySet(), context.now())
      return caller === undefined ? verify(value, context) : admit(caller, context)
    },
  } satisfies SecurityProvider)
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
