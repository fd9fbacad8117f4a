import type { Principal } from '../definition/principal.ts'
import { errorOf, type ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import { clientKeyOf } from '../protocol/ip-address.ts'
import type { Credentials } from '../request/request.ts'
import type { Report } from '../observation/reports.ts'
import { keepLatest } from '../keep-latest.ts'
import type { Limiter, Limits } from './limiter.ts'

/** Enforces the limits of a service. */
export interface Limiting {
  /** Throws TOO_MANY_REQUESTS for a client with too many failures, before its credential is verified. */
  requireUnblocked(request: Credentials): void
  /** Counts a rejected credential of a client. Rejects with TOO_MANY_REQUESTS above the limit. */
  failed(peer: string | undefined): Promise<void>
  /** Counts a request. Rejects with TOO_MANY_REQUESTS above the limit. */
  admit(principal: Principal, request: Credentials): Promise<void>
}

// The maximum number of blocked clients in memory; above it, the oldest is evicted.
const maxBlocked = 10_000

/** Returns what enforces the limits; undefined without limiters, so that requests skip it. */
export function applyLimits(
  { requests, failures }: Limits,
  now: () => Date,
  report: Report,
): Limiting | undefined {
  // Stryker disable next-line ConditionalExpression: without limiters nothing is enforced, but requests wait
  if (requests === undefined && failures === undefined) return undefined
  const blocked = new Map<string, number>()

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
    requireUnblocked: (request) => {
      const client = clientKeyOf(request.peer)
      const wait = (blocked.get(client) ?? -Infinity) - now().getTime()
      if (wait > 0) throw tooMany(wait)
      blocked.delete(client)
    },
    failed: async (peer) => {
      if (failures === undefined) return
      const client = clientKeyOf(peer)
      const wait = await consume(failures, client)
      if (wait === undefined) return
      block(client, wait)
      throw tooMany(wait)
    },
    admit: async ({ keyId, user }, request) => {
      if (requests === undefined) return
      const wait = await consume(requests, keyId ?? user ?? clientKeyOf(request.peer))
      if (wait !== undefined) throw tooMany(wait)
    },
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
