import type { Row } from '../../request/query.ts'
import { isStorageError, StorageError, type StorageTransaction } from '../../storage/adapter.ts'
import { fittingOne, readFitting } from '../../storage/fitting-rows.ts'
import { table, tableReader } from '../../storage/table.ts'
import { nextAttempt } from '../../work/attempts.ts'
import { repeatConflicts } from '../../work/repeat-conflicts.ts'
import { outboxCollections, type OutboxStorage } from './collections.ts'

const { deliveries, lanes } = outboxCollections
const reading = { mode: 'read', brief: true } as const
const writing = { mode: 'write', brief: true } as const
/** How many deliveries are put behind at a time. */
const maxLate = 500
const lanesAtOnce = 100

/** The delivery of a lane that may be sent. */
export interface LaneTurn {
  /** Its id; undefined if no delivery of the lane is open. */
  readonly current: string | undefined
  /** Whether the lane has just moved on to it, so that it can be claimed now. */
  readonly hasMoved: boolean
}

/** The time of an arrangement, as an instant, and the milliseconds after which the row of a lane is written again. */
export interface ArrangeOptions {
  readonly now: string
  readonly lease: number
}

/**
 * Moves a lane on if its delivery is finished, and puts others that wait behind it. The row of a lane names the
 * delivery that may be sent. Only workers write it, after the commit of what was enqueued, so that the transactions
 * that enqueue touch no common row.
 */
export function arrangeLane(
  storage: OutboxStorage,
  lane: string,
  options: ArrangeOptions,
): Promise<LaneTurn> {
  return repeatConflicts(async () => {
    const seen = await readLane(storage, lane)
    const { current } = seen
    const next = current ?? firstOf(seen)?.id
    const late = seen.waiting.filter(({ id }) => id !== next)
    if (current !== undefined && late.length === 0 && !isOld(seen, options))
      return { current, hasMoved: false }
    if (next === undefined && seen.row === undefined) return { current: next, hasMoved: false }
    const isWritten = await storage.transaction(writing, (on) =>
      writeLane(on, { ...seen, next, late }, options),
    )
    if (!isWritten) throw changedMeanwhile()
    return { current: next, hasMoved: current === undefined }
  })
}

/**
 * Returns the lanes whose rows were not written for a lease, for instance because their worker has ended. Of the lanes
 * that a clock has written that is ahead, returns at most 100 at a time.
 */
export async function oldLanes(
  storage: OutboxStorage,
  options: ArrangeOptions,
): Promise<readonly string[]> {
  const isOldRow = (row: Row): boolean => isOld({ row }, options)
  const page = { sort: ['checked', 'lane'], limit: lanesAtOnce, select: ['lane', 'checked'] }
  const old: Row[] = []
  for (let offset = 0; ; offset += lanesAtOnce) {
    const { rows, isFull } = await readFitting(storage, lanes, {}, { ...page, offset })
    old.push(...rows.filter(isOldRow))
    if (!isFull) break
    if (rows.every(isOldRow)) continue
    const last = (await tableReader(storage, lanes).count({})) - lanesAtOnce
    const from = Math.max(offset + lanesAtOnce, last)
    const ahead = await readFitting(storage, lanes, {}, { ...page, offset: from })
    old.push(...ahead.rows.filter(isOldRow))
    break
  }
  return old.map((row) => String(row['lane']))
}

/** A delivery that is not finished, in the order of `turn`. */
interface Open {
  readonly id: string
  readonly turn: number
}

/** What is stored of a lane, in one state. */
interface SeenLane {
  readonly lane: string
  /** The row of the lane; undefined if there is none, or none that can be read. */
  readonly row: Row | undefined
  /** The delivery that the row names, if it is open. */
  readonly current: string | undefined
  /** The first ones. */
  readonly waiting: readonly Open[]
  /** The first one, unless there is a current one. */
  readonly behind: readonly Open[]
}

// Lanes are read in a separate transaction: if transactions are serializable, reads of a transaction that writes would
// block `enqueue`.
function readLane(storage: OutboxStorage, lane: string): Promise<SeenLane> {
  return storage.transaction(reading, async (on) => {
    const { rows } = await readFitting(on, lanes, { lane }, { limit: 1 })
    const [row] = rows
    const current = row && (await openOf(on, String(row['delivery'])))
    const waiting = await inLane(on, { lane, state: 'waiting' }, maxLate)
    const behind = current === undefined ? await inLane(on, { lane, state: 'behind' }, 3) : []
    return { lane, row, current, waiting, behind }
  })
}

/** Returns the id if the delivery may be sent, is being sent, or holds its lane. */
async function openOf(on: StorageTransaction, id: string): Promise<string | undefined> {
  const select = ['id', 'state', 'holdsLane']
  const { rows } = await readFitting(on, deliveries, { id }, { limit: 1, select })
  const [row] = rows
  const { state, holdsLane } = row ?? {}
  const isHeld = state === 'dead' && holdsLane === true
  return state === 'waiting' || state === 'sending' || isHeld ? id : undefined
}

/** Returns deliveries of a lane. A row with an unfit position comes first, so that a worker finds it and makes it dead. */
async function inLane(on: StorageTransaction, where: Row, limit: number): Promise<readonly Open[]> {
  const page = { sort: ['turn', 'id'], limit, select: ['id', 'turn'] }
  const { rows, unfit } = await readFitting(on, deliveries, where, page)
  const odd = unfit.flatMap(({ key }) => (key === undefined ? [] : [{ ...key, turn: -Infinity }]))
  return [...odd, ...rows] as unknown as readonly Open[]
}

function firstOf({ waiting, behind }: SeenLane): Open | undefined {
  const [first] = [...waiting, ...behind].toSorted(
    (one, other) => one.turn - other.turn || (one.id < other.id ? -1 : 1),
  )
  return first
}

// The clock of the process that has written it may be ahead.
function isOld({ row }: Pick<SeenLane, 'row'>, { now, lease }: ArrangeOptions): boolean {
  if (row === undefined) return false
  return Math.abs(Date.parse(now) - Date.parse(String(row['checked']))) > lease
}

/** What is written of a lane. */
interface Arrangement extends SeenLane {
  readonly next: string | undefined
  /** The deliveries that are put behind the next one. */
  readonly late: readonly Open[]
}

/** Returns whether the lane was as it was seen. */
async function writeLane(
  on: StorageTransaction,
  { lane, row, current, next, late, behind }: Arrangement,
  { now }: ArrangeOptions,
): Promise<boolean> {
  const rows = table(on, lanes)
  const stored = table(on, deliveries)
  const { version = null, delivery = null } = row ?? {}
  // Versions begin again with each row of a lane: one that was removed and stored again meanwhile names another delivery.
  const seen = { lane, version, delivery }
  if (next === undefined) return (await rows.remove(seen)) !== undefined
  const named = { delivery: next, version: nextAttempt(Number(version ?? 0)), checked: now }
  const isNamed =
    row === undefined
      ? await insertLane(on, { lane, ...named })
      : (await rows.change(seen, named)) !== undefined
  if (!isNamed) return false
  if (current === undefined && behind.some(({ id }) => id === next)) {
    const moved = await stored.change({ id: next, state: 'behind' }, { state: 'waiting', due: now })
    // It was dropped. The next arrangement finds that the named one is not open.
    if (moved === undefined) return false
  }
  for (const { id } of late) await stored.change({ id, state: 'waiting' }, { state: 'behind' })
  return true
}

/** Returns whether the lane had no row. One that can't be read is replaced. */
async function insertLane(on: StorageTransaction, row: Row & { lane: string }): Promise<boolean> {
  const rows = table(on, lanes)
  if ((await fittingOne(rows, { lane: row.lane })) !== undefined) return false
  try {
    await rows.insert(row)
    return true
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'duplicate') throw error
    return false
  }
}

function changedMeanwhile(): StorageError {
  return new StorageError('unavailable', {
    message: 'storage: another worker has changed the lane of the delivery',
    isConflict: true,
  })
}
