import * as z from 'zod/mini'
import { isValueOf } from '../../definition/field-type.ts'
import { date, instant } from '../../definition/field.ts'
import { readFitting } from '../../storage/fitting-rows.ts'
import { table } from '../../storage/table.ts'
import { outboxCollections, type OutboxStorage } from './collections.ts'
import { deliveryOf, type StoredDelivery } from './delivery.ts'

const { deliveries } = outboxCollections
const reading = { mode: 'read', brief: true } as const
const writing = { mode: 'write', brief: true } as const
const retriedAtOnce = 100

/** Which deliveries `retry` makes due. */
export interface RetryFilter<Name extends string = string> {
  readonly state: 'dead' | 'waiting'
  /** Default: all endpoints. */
  readonly endpoint?: Name | undefined
  /**
   * Those that have died since a time, or were stored if they are waiting: a Date, an instant, or a date, which is the
   * beginning of that day in UTC. Default: all.
   */
  readonly since?: Date | string | undefined
}

/** Checks a {@link RetryFilter}. */
export const retryShape = z.strictObject({
  state: z.enum(['dead', 'waiting']),
  endpoint: z.optional(z.string()),
  since: z.optional(
    z.custom<Date | string>(isTime, {
      error: 'must be a Date, an instant (2026-11-26T08:00:00Z) or a date (2026-11-26)',
    }),
  ),
} satisfies Record<keyof RetryFilter, z.ZodMiniType>)

/** Returns whether a value states a time. */
export function isTime(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime())
  return isValueOf(instant(), value) || isValueOf(date(), value)
}

/**
 * Returns the changes that make a dead delivery wait again. Unless it holds its lane, it takes a new position there:
 * `turn`.
 */
export function freshStart(
  { lane, holdsLane }: Pick<StoredDelivery, 'lane' | 'holdsLane'>,
  { now, turn }: { readonly now: string; readonly turn: number },
) {
  const fresh = { state: 'waiting', failures: 0, lost: 0, ended: null, holdsLane: false, due: now }
  return lane === null || holdsLane ? fresh : { ...fresh, turn }
}

/**
 * Makes deliveries due now, in the order in which they were stored. Returns their number. Those that fail meanwhile are
 * not retried again.
 */
export async function retryDeliveries(
  storage: OutboxStorage,
  { state, endpoint, since }: RetryFilter,
  { now, nextTurn }: { readonly now: string; readonly nextTurn: () => number },
): Promise<number> {
  const where = endpoint === undefined ? { state } : { state, endpoint }
  const select = ['id', 'attempt', 'lane', 'holdsLane', 'created', 'ended']
  // From one snapshot: otherwise, a row that leaves the filter between two pages would make the next page skip a row.
  const { rows } = await storage.transaction(reading, (on) =>
    readFitting(on, deliveries, where, { sort: ['id'], select }),
  )
  const from = since === undefined ? -Infinity : new Date(since).getTime()
  const wanted = rows
    .map(deliveryOf)
    .filter(({ created, ended }) => Date.parse(ended ?? created) >= from)
  let retried = 0
  for (let at = 0; at < wanted.length; at += retriedAtOnce) {
    const part = wanted
      .slice(at, at + retriedAtOnce)
      .map((delivery) => [delivery, { now, turn: nextTurn() }] as const)
    retried += await storage.transaction(writing, async (on) => {
      let changed = 0
      for (const [delivery, time] of part) {
        const { id, attempt } = delivery
        const changes = state === 'dead' ? freshStart(delivery, time) : { due: now }
        const row = await table(on, deliveries).change({ id, attempt, state }, changes)
        if (row !== undefined) changed += 1
      }
      return changed
    })
  }
  return retried
}
