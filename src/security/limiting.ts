import type { Principal } from '../definition/principal.ts'
import { errorOf, type ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import { clientKeyOf } from '../protocol/ip-address.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { digestOf } from '../request/digest.ts'
import type { Credentials } from '../request/request.ts'
import type { Report } from '../observation/reports.ts'
import { keepLatest } from '../keep-latest.ts'
import type { Limiter, Limits } from './limiter.ts'

/** Enforces the limits of a service. */
export interface Limiting {
  /**
   * Throws TOO_MANY_REQUESTS for a client with too many failures, before its credential is verified. A key that was accepted
   * from the same client lately is verified: keys can't be guessed, and another user at the address may be the cause.
   */
  requireUnblocked(request: Credentials, key?: string): MaybePromise<void>
  /** Remembers that a key was accepted from a client. */
  accepted(peer: string | undefined, key: string): MaybePromise<void>
  /** Counts a rejected credential of a client. Rejects with TOO_MANY_REQUESTS above the limit. */
  failed(peer: string | undefined): Promise<void>
  /** Counts a request. Rejects with TOO_MANY_REQUESTS above the limit. */
  admit(principal: Principal, request: Credentials): Promise<void>
}

// Otherwise a caller would have the requests of a whole key with each session.
const ofSessions = new WeakSet<Principal>()

/** Counts the requests of a caller with a session together with those of the user. */
export function countByUser(principal: Principal): void {
  ofSessions.add(principal)
}

// The maximum number of blocked clients, and of remembered keys, in memory; above it, the oldest is evicted.
const maxBlocked = 10_000
/** How long an accepted key is remembered, in milliseconds. */
const lately = 24 * 3_600_000

/** Returns what enforces the limits; undefined without limiters, so that requests skip it. */
export function applyLimits(
  { requests, failures }: Limits,
  now: () => Date,
  report: Report,
): Limiting | undefined {
  // Stryker disable next-line ConditionalExpression: without limiters nothing is enforced, but requests wait
  if (requests === undefined && failures === undefined) return undefined
  const blocked = new Map<string, number>()
  const known = knownKeys(now)

  async function consume(limiter: Limiter, key: string): Promise<number | undefined> {
    try {
      await limiter.consume(key)
      return undefined
    } catch (error) {
      const wait = waitOf(error)
      if (wait === undefined) report({ type: 'limiter-failed', error })
      return wait
    }
  }

  function block(client: string, milliseconds: number): void {
    keepLatest(blocked, client, now().getTime() + milliseconds, maxBlocked)
  }

  return {
    requireUnblocked: (request, key) => {
      const client = clientKeyOf(request.peer)
      const time = now().getTime()
      const wait = (blocked.get(client) ?? -Infinity) - time
      if (wait <= 0) {
        blocked.delete(client)
        return undefined
      }
      if (key === undefined) throw tooMany(wait)
      return whenDone(known.has(client, key), (isKnown) => {
        if (!isKnown) throw tooMany(wait)
      })
    },
    accepted: (peer, key) =>
      failures === undefined ? undefined : known.remember(clientKeyOf(peer), key),
    failed: async (peer) => {
      if (failures === undefined) return
      const client = clientKeyOf(peer)
      const wait = await consume(failures, client)
      if (wait === undefined) return
      block(client, wait)
      throw tooMany(wait)
    },
    admit: async (principal, request) => {
      if (requests === undefined) return
      const { keyId, user } = principal
      const caller = ofSessions.has(principal) ? user : (keyId ?? user)
      const wait = await consume(requests, caller ?? clientKeyOf(request.peer))
      if (wait !== undefined) throw tooMany(wait)
    },
  }
}

/** The keys that were accepted from clients lately. */
function knownKeys(now: () => Date) {
  // By client and the digest of the key: memory contains no keys.
  const accepted = new Map<string, number>()
  const nameOf = (client: string, key: string): MaybePromise<string> =>
    whenDone(digestOf(key), (digest) => `${client} ${digest}`)
  return {
    has: (client: string, key: string): MaybePromise<boolean> =>
      whenDone(nameOf(client, key), (name) => {
        const at = accepted.get(name)
        return at !== undefined && now().getTime() - at < lately
      }),
    remember: (client: string, key: string): MaybePromise<void> =>
      whenDone(nameOf(client, key), (name) => {
        keepLatest(accepted, name, now().getTime(), maxBlocked)
      }),
  }
}

function waitOf(rejection: unknown): number | undefined {
  if (typeof rejection !== 'object' || rejection === null) return undefined
  const { msBeforeNext } = rejection as { readonly msBeforeNext?: unknown }
  return Number.isFinite(msBeforeNext) ? (msBeforeNext as number) : undefined
}

/** Returns the error of a client that may try again after a time. */
export function tooMany(milliseconds: number): ServiceError {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000))
  return errorOf('TOO_MANY_REQUESTS', messageOf('tooManyRequests', {}), {
    headers: { 'Retry-After': String(seconds) },
  })
}
