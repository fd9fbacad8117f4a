import { isThenable, whenDone, type MaybePromise } from '../maybe-promise.ts'
import { attributesMistake, withoutSystemRights, type Principal } from '../definition/principal.ts'
import { errorOf, isServiceError, type ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import type { Credentials } from '../request/request.ts'
import type { RejectionReason, Report } from '../observation/reports.ts'
import type { Limiting } from './limiting.ts'
import {
  isKeyProvider,
  type Credential,
  type Rejected,
  type SecurityContext,
  type SecurityProvider,
} from './provider.ts'
import {
  challengeOf,
  moreSpecific,
  multipleCredentials,
  unauthenticated,
  type Rejection,
} from './rejection.ts'

/** What a gate needs. */
export interface GateOptions {
  /** In the order of their priority. */
  readonly providers: readonly SecurityProvider[]
  /** The principal of requests without a credential; undefined: they are rejected. */
  readonly anyone: Principal | undefined
  readonly context: SecurityContext
  readonly limiting: Limiting | undefined
  readonly report: Report
}

/** Authenticates a request; see {@link createGate}. */
export type Gate = (request: Credentials) => MaybePromise<Principal>

/**
 * Creates the gate of a service: a function that returns the principal of a request. It throws
 * HTTPS_REQUIRED for a credential over plain HTTP, MULTIPLE_CREDENTIALS for more than one credential,
 * UNAUTHENTICATED for a missing or invalid credential, with the same response for every reason, and
 * TOO_MANY_REQUESTS above a limit.
 */
export function createGate(options: GateOptions): Gate {
  const { limiting } = options
  const authentication = new RequestAuthentication(options)
  if (limiting === undefined) return (request) => authentication.authenticate(request)
  return async (request) => {
    const principal = await authentication.authenticate(request)
    await limiting.admit(principal, request)
    return principal
  }
}

class RequestAuthentication {
  readonly #options: GateOptions
  readonly #challenge: string
  readonly #openCaller: Principal | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#challenge = challengeOf(options.providers)
    this.#openCaller = options.anyone && openPrincipal(options.anyone)
  }

  authenticate(request: Credentials): MaybePromise<Principal> {
    let credential: Credential | undefined
    let candidates: SecurityProvider[] = none
    let several = false
    for (const provider of this.#options.providers) {
      const found = this.#findIn(request, provider)
      if (found === undefined) continue
      if (credential === undefined) candidates = [provider]
      else candidates.push(provider)
      several ||= credential !== undefined && credential.place !== found.place
      credential = found
    }
    if (credential === undefined)
      return this.#openCaller ?? this.#reject({ rejected: 'missing' }, undefined, { request })
    // In Express, reading `secure` costs more than all other checks.
    if (!candidates.every(allowsPlainHttp) && !request.secure) {
      const allowing = candidates.filter(allowsPlainHttp)
      if (allowing.length === 0 || several) throw this.#httpsRequired(candidates, request)
      candidates = allowing
    }
    if (several) throw multipleCredentials()
    const { limiting } = this.#options
    if (limiting === undefined)
      return this.#identify({ credential, candidates, request }, 0, undefined)
    // Passwords can be guessed, so they are not remembered.
    const key = candidates.every(isKeyProvider) ? credential.value : undefined
    // The address is unknown once the client has disconnected.
    const { peer } = request
    const found = whenDone(limiting.requireUnblocked(request, key), () =>
      this.#identify({ credential, candidates, request }, 0, undefined),
    )
    if (key === undefined) return found
    return whenDone(found, (principal) => whenDone(limiting.accepted(peer, key), () => principal))
  }

  // HTTPS_REQUIRED has precedence over MULTIPLE_CREDENTIALS, which `find` throws.
  #findIn(request: Credentials, provider: SecurityProvider): Credential | undefined {
    try {
      return provider.find(request)
    } catch (error) {
      const needsHttps = !request.secure && !allowsPlainHttp(provider)
      if (needsHttps && isServiceError(error) && error.code === 'MULTIPLE_CREDENTIALS') {
        throw this.#httpsRequired([provider], request)
      }
      throw error
    }
  }

  #identify(
    attempt: Attempt,
    from: number,
    earlier: Rejection | undefined,
  ): MaybePromise<Principal> {
    const { credential, candidates } = attempt
    let rejection = earlier
    for (let index = from; index < candidates.length; index++) {
      const provider = candidates[index] as SecurityProvider
      const result = provider.identify(credential, this.#options.context)
      if (isThenable(result)) {
        // The address is unknown once the client has disconnected.
        const known = { ...attempt, peer: attempt.peer ?? attempt.request.peer }
        return Promise.resolve(result).then((settled) => {
          const found = checkedResult(provider, settled)
          return isPrincipal(found)
            ? found
            : this.#identify(known, index + 1, moreSpecific(rejection, found, provider))
        })
      }
      const found = checkedResult(provider, result)
      if (isPrincipal(found)) return found
      rejection = moreSpecific(rejection, found, provider)
    }
    const provider = rejection?.provider ?? candidates.at(-1)?.name
    return this.#reject(rejection ?? { rejected: 'unknown' }, provider, attempt)
  }

  #reject(
    { rejected, user, keyId }: Rejected,
    provider: string | undefined,
    { request, peer = request.peer }: Pick<Attempt, 'request' | 'peer'>,
  ): MaybePromise<never> {
    this.#options.report({
      type: 'credential-rejected',
      reason: rejected,
      provider: provider ?? null,
      user: user ?? null,
      keyId: keyId ?? null,
      peer: peer ?? null,
    })
    const { limiting } = this.#options
    const error = unauthenticated(this.#challenge)
    if (limiting === undefined || rejected === 'missing') throw error
    return limiting.failed(peer).then(() => {
      throw error
    })
  }

  #httpsRequired(candidates: readonly SecurityProvider[], { peer }: Credentials): ServiceError {
    const provider = candidates[0]?.name ?? ''
    this.#options.report({ type: 'credential-in-clear', provider, peer: peer ?? null })
    return errorOf('HTTPS_REQUIRED', messageOf('httpsRequired', {}))
  }
}

/** A credential, and the providers that found it. */
interface Attempt {
  readonly credential: Credential
  readonly candidates: readonly SecurityProvider[]
  readonly request: Credentials
  /** The address of the client, if it was read before something had to wait. */
  readonly peer?: string | undefined
}

const none: SecurityProvider[] = []

const disabled: Rejected = Object.freeze({
  rejected: 'provider-disabled' satisfies RejectionReason,
})

// A disabled provider can report why it rejects a credential, but its principals are never accepted.
function checkedResult(
  { name, enabled }: SecurityProvider,
  result: Principal | Rejected | undefined,
): Principal | Rejected | undefined {
  if (!isPrincipal(result)) return result
  const principal = withoutSystemRights(result)
  if (principal !== undefined) return enabled === false ? disabled : principal
  const { attributes } = Object(result) as Partial<Principal>
  const mistake = attributes === undefined ? undefined : attributesMistake(attributes)
  const reason = mistake === undefined ? '' : ` Here, ${mistake}`
  throw new TypeError(
    `The provider ${name} must return a principal, { rejected: reason } or undefined: create principals with principal().${reason}`,
  )
}

function openPrincipal(anyone: unknown): Principal {
  const principal = withoutSystemRights(anyone)
  if (principal !== undefined) return principal
  throw new TypeError(
    'security: the principal of open access must be one that openAccess() creates',
  )
}

function allowsPlainHttp(provider: SecurityProvider): boolean {
  return provider.allowInsecureHttp === true
}

function isPrincipal(result: Principal | Rejected | undefined): result is Principal {
  return result !== undefined && !('rejected' in result)
}
