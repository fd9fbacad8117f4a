import type { Principal } from '../definition/principal.ts'
import { ServiceError } from '../errors.ts'
import type { Credentials } from '../event/request.ts'
import type { RefusalReason, Report } from '../observation.ts'
import type { MaybePromise } from '../storage/adapter.ts'
import type { Limiting } from './limiting.ts'
import type { Credential, Refused, SecurityHouse, SecurityProvider } from './provider.ts'

/** What a gate is made of. */
export interface GateParts {
  /** In the order in which they are asked (D43). */
  readonly providers: readonly SecurityProvider[]
  /** The caller of requests without a credential; undefined: they are refused. */
  readonly anyone: Principal | undefined
  readonly house: SecurityHouse
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
export function openGate({ providers, anyone, house, limiting, report }: GateParts): Gate {
  const challenge = challengeOf(providers)

  function authenticate(request: Credentials): MaybePromise<Principal> {
    let credential: Credential | undefined
    let asked: SecurityProvider[] = none
    let several = false
    for (const provider of providers) {
      const found = provider.find(request)
      if (found === undefined) continue
      if (credential === undefined) asked = [provider]
      else asked.push(provider)
      several ||= credential !== undefined && credential.place !== found.place
      credential = found
    }
    if (credential === undefined)
      return anyone ?? refuse({ refused: 'missing' }, undefined, request)
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

  function identify(
    turn: Turn,
    from: number,
    refused: Refused | undefined,
  ): MaybePromise<Principal> {
    const { credential, asked } = turn
    let refusal = refused
    for (let index = from; index < asked.length; index++) {
      const provider = asked[index] as SecurityProvider
      const answer = provider.enabled === false ? disabled : provider.identify(credential, house)
      if (answer instanceof Promise) {
        return answer.then((late) =>
          isPrincipal(late) ? late : identify(turn, index + 1, late ?? refusal),
        )
      }
      if (isPrincipal(answer)) return answer
      refusal = answer ?? refusal
    }
    return refuse(refusal ?? { refused: 'unknown' }, asked.at(-1)?.name, turn.request)
  }

  function refuse(
    { refused, user, keyId }: Refused,
    provider: string | undefined,
    request: Credentials,
  ): MaybePromise<never> {
    report({
      type: 'credential-refused',
      reason: refused,
      provider: provider ?? null,
      user: user ?? null,
      keyId: keyId ?? null,
      peer: request.peer ?? null,
    })
    const refusal = unauthenticated(challenge)
    if (limiting === undefined || refused === 'missing') throw refusal
    return limiting.failed(request).then(() => {
      throw refusal
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

const disabled: Refused = Object.freeze({ refused: 'provider-disabled' satisfies RefusalReason })

function mayComeInClear(provider: SecurityProvider): boolean {
  return provider.allowInsecureHttp === true
}

function isPrincipal(answer: Principal | Refused | undefined): answer is Principal {
  return answer !== undefined && !('refused' in answer)
}

// The same header for every reason, so it can't depend on the request.
function challengeOf(providers: readonly SecurityProvider[]): string {
  const enabled = providers.filter((provider) => provider.enabled !== false)
  const challenging = enabled.length > 0 ? enabled : providers
  return Array.from(new Set(challenging.map(({ challenge }) => challenge))).join(', ')
}

function unauthenticated(challenge: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', 'Valid credentials are required.', {
    headers: { 'WWW-Authenticate': challenge },
  })
}

function multipleCredentials(): ServiceError {
  return new ServiceError('MULTIPLE_CREDENTIALS', 'The request carries more than one credential.')
}
