import { isThenable, type MaybePromise } from '../maybe-promise.ts'
import { system, type Principal } from '../definition/principal.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Credentials } from '../request/request.ts'
import type { RejectionReason, Report } from '../observation.ts'
import type { Limiting } from './limiting.ts'
import type { Credential, Rejected, SecurityContext, SecurityProvider } from './provider.ts'
import {
  challengeOf,
  multipleCredentials,
  tellingMore,
  unauthenticated,
  type Rejection,
} from './rejection.ts'

/** What a gate is made of. */
export interface GateParts {
  /** In the order in which they are asked (D43). */
  readonly providers: readonly SecurityProvider[]
  /** The caller of requests without a credential; undefined: they are rejected. */
  readonly anyone: Principal | undefined
  readonly context: SecurityContext
  readonly limiting: Limiting | undefined
  readonly report: Report
}

/** Finds out who asks; see {@link openGate}. */
export type Gate = (request: Credentials) => MaybePromise<Principal>

/**
 * Opens the gate of a service: the principal behind a request. Throws HTTPS_REQUIRED for a credential
 * over plain HTTP (D26), MULTIPLE_CREDENTIALS for more than one, UNAUTHENTICATED, with one answer for
 * every reason, when nobody is behind it (D25), and TOO_MANY_REQUESTS beyond a limit (D28).
 */
export function openGate({ providers, anyone, context, limiting, report }: GateParts): Gate {
  const challenge = challengeOf(providers)
  const nobody = anyone && fromOutside(anyone)

  function authenticate(request: Credentials): MaybePromise<Principal> {
    let credential: Credential | undefined
    let asked: SecurityProvider[] = none
    let several = false
    for (const provider of providers) {
      const found = findIn(request, provider)
      if (found === undefined) continue
      if (credential === undefined) asked = [provider]
      else asked.push(provider)
      several ||= credential !== undefined && credential.place !== found.place
      credential = found
    }
    if (credential === undefined)
      return nobody ?? reject({ rejected: 'missing' }, undefined, request)
    if (!request.secure) {
      const open = asked.filter(mayComeInClear)
      if (open.length === 0 || (several && open.length < asked.length))
        throw inClear(asked, request)
      asked = open
    }
    if (several) throw multipleCredentials()
    limiting?.requireUnblocked(request)
    return identify({ credential, asked, request }, 0, undefined)
  }

  // Several credentials in one place are rejected where they are found, but not before HTTPS is (D31).
  function findIn(request: Credentials, provider: SecurityProvider): Credential | undefined {
    try {
      return provider.find(request)
    } catch (error) {
      const isInClear = !request.secure && !mayComeInClear(provider)
      if (isInClear && isServiceError(error) && error.code === 'MULTIPLE_CREDENTIALS') {
        throw inClear([provider], request)
      }
      throw error
    }
  }

  function identify(
    turn: Turn,
    from: number,
    earlier: Rejection | undefined,
  ): MaybePromise<Principal> {
    const { credential, asked } = turn
    let rejection = earlier
    for (let index = from; index < asked.length; index++) {
      const provider = asked[index] as SecurityProvider
      const answer = provider.identify(credential, context)
      if (isThenable(answer)) {
        return Promise.resolve(answer).then((late) => {
          const found = effective(provider, late)
          return isPrincipal(found)
            ? found
            : identify(turn, index + 1, tellingMore(rejection, found, provider))
        })
      }
      const found = effective(provider, answer)
      if (isPrincipal(found)) return found
      rejection = tellingMore(rejection, found, provider)
    }
    const provider = rejection?.provider ?? asked.at(-1)?.name
    return reject(rejection ?? { rejected: 'unknown' }, provider, turn.request)
  }

  function reject(
    { rejected, user, keyId }: Rejected,
    provider: string | undefined,
    request: Credentials,
  ): MaybePromise<never> {
    report({
      type: 'credential-rejected',
      reason: rejected,
      provider: provider ?? null,
      user: user ?? null,
      keyId: keyId ?? null,
      peer: request.peer ?? null,
    })
    const rejection = unauthenticated(challenge)
    if (limiting === undefined || rejected === 'missing') throw rejection
    return limiting.failed(request).then(() => {
      throw rejection
    })
  }

  function inClear(asked: readonly SecurityProvider[], { peer }: Credentials): ServiceError {
    const provider = asked[0]?.name ?? ''
    report({ type: 'credential-in-clear', provider, peer: peer ?? null })
    return new ServiceError('HTTPS_REQUIRED', 'HTTPS is required.')
  }

  if (limiting === undefined) return authenticate
  return async (request) => {
    const principal = await authenticate(request)
    await limiting.admit(principal, request)
    return principal
  }
}

interface Turn {
  readonly credential: Credential
  readonly asked: readonly SecurityProvider[]
  readonly request: Credentials
}

const none: SecurityProvider[] = []

const disabled: Rejected = Object.freeze({
  rejected: 'provider-disabled' satisfies RejectionReason,
})

// A provider that is disabled may still tell why it rejects, but nobody comes in through it.
function effective(
  { name, enabled }: SecurityProvider,
  answer: Principal | Rejected | undefined,
): Principal | Rejected | undefined {
  if (!isPrincipal(answer)) return answer
  requireWhole(answer, name)
  return enabled === false ? disabled : fromOutside(answer)
}

// Code of the host: what is no rejection is not yet a caller.
function requireWhole(answer: unknown, provider: string): void {
  const { user, roles, attributes } = answer as Partial<Record<string, unknown>>
  const hasUser = user === null || typeof user === 'string'
  if (hasUser && Array.isArray(roles) && typeof attributes === 'object' && attributes !== null)
    return
  throw new TypeError(
    `The provider ${provider} must answer with a principal, a rejection or undefined: make principals with principal().`,
  )
}

// Whatever a provider answers, no request has the rights of the host.
function fromOutside(caller: Principal): Principal {
  return caller === system ? { ...caller } : caller
}

function mayComeInClear(provider: SecurityProvider): boolean {
  return provider.allowInsecureHttp === true
}

function isPrincipal(answer: Principal | Rejected | undefined): answer is Principal {
  return answer !== undefined && !('rejected' in answer)
}
