import { fittingOne, readFitting } from '../../storage/fitting-rows.ts'
import { StorageError, type StorageReader, type StorageTransaction } from '../../storage/adapter.ts'
import { table } from '../../storage/table.ts'
import { securityCollections } from '../collections.ts'
import type { RequestCount } from './request-counter.ts'

/** The number of requests on a day. */
export interface DailyRequests {
  /** A day of UTC. */
  readonly day: string
  readonly requests: number
}

const { requests: stored } = securityCollections

/** For how many days counts are kept, the current one included. */
const keptDays = 30

const rowsAtOnce = 200
const dayLength = 86_400_000

/** Returns counts in parts, each for one transaction. */
export function partsOf(counts: readonly RequestCount[]): readonly (readonly RequestCount[])[] {
  // In the same order in every process, so that no two of them wait for each other.
  const sorted = counts.toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  return Array.from({ length: Math.ceil(sorted.length / rowsAtOnce) }, (_, index) =>
    sorted.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce),
  )
}

function nameOf({ keyId, day }: RequestCount): string {
  return `${keyId} ${day}`
}

/** Adds counts to the stored ones, to which other processes may add at the same time. */
export async function addRequests(
  transaction: StorageTransaction,
  counts: readonly RequestCount[],
): Promise<void> {
  const own = table(transaction, stored)
  for (const { keyId, day, requests } of counts) {
    const row = await fittingOne(own, { keyId, day })
    if (row === undefined) {
      await own.insertMissing({ keyId, day, requests })
      continue
    }
    const before = row['requests'] as number
    const unchanged = { keyId, day, requests: before }
    const changed = await own.change(unchanged, { requests: before + requests })
    // Another process has added to it since it was read. The transaction is repeated.
    if (changed === undefined) throw new StorageError('unavailable', { isConflict: true })
  }
}

/** Removes some of the counts that are too old. Returns whether there may be more. */
export async function removeOldRequests(
  transaction: StorageTransaction,
  now: Date,
): Promise<boolean> {
  const [first = ''] = keptDaysOf(now)
  const page = { sort: ['day', 'keyId'], select: ['keyId', 'day'], limit: rowsAtOnce }
  const { rows } = await readFitting(transaction, stored, {}, page)
  const old = rows.filter(({ day }) => String(day) < first)
  for (const { keyId = null, day = null } of old)
    await table(transaction, stored).remove({ keyId, day })
  return old.length === rowsAtOnce
}

/** Returns how many requests a key, or all of them, had on each of the days for which counts are kept. */
export async function readRequests(
  reader: StorageReader,
  keyId: string,
  now: Date,
): Promise<readonly DailyRequests[]> {
  const page = { sort: ['-day', 'keyId'], limit: rowsAtOnce }
  const { rows } = await readFitting(reader, stored, { keyId }, page)
  const byDay = new Map(rows.map(({ day, requests }) => [day, requests as number]))
  return keptDaysOf(now).map((day) => ({ day, requests: byDay.get(day) ?? 0 }))
}

function keptDaysOf(now: Date): readonly string[] {
  return Array.from({ length: keptDays }, (_, index) => {
    const ago = keptDays - 1 - index
    return new Date(now.getTime() - ago * dayLength).toISOString().slice(0, 10)
  })
}
