import { StorageError, type StorageTransaction } from '../../storage/adapter.ts'
import { fittingOne } from '../../storage/fitting-rows.ts'
import { table } from '../../storage/table.ts'
import { countOf, nextAttempt } from '../../work/attempts.ts'
import { outboxCollections } from './collections.ts'

const { deliveries, lanes } = outboxCollections

/** The place of a delivery in its lane. */
export interface LanePlace {
  readonly turn: number
  /** Whether no earlier delivery of the lane is open. */
  readonly isFirst: boolean
}

/**
 * Adds a delivery at the end of a lane. The lane's row gives turns in the order of the commits, whatever the
 * clocks of the processes are. Throws `unavailable` if another process changes the lane at the same time.
 */
export async function enterLane(storage: StorageTransaction, lane: string): Promise<LanePlace> {
  const rows = table(storage, lanes)
  const found = await fittingOne(rows, { lane })
  if (found === undefined) {
    await rows.insertMissing({ lane, turn: 1, open: 1 })
    return { turn: 1, isFirst: true }
  }
  const turn = nextAttempt(Number(found['turn']))
  const open = nextAttempt(countOf(found['open']))
  if ((await rows.change({ ...found }, { turn, open })) === undefined) throw changedMeanwhile()
  return { turn, isFirst: open === 1 }
}

/**
 * Removes a delivery that was first in its lane. The next delivery may be sent then: the function returns
 * its id, or undefined if there is none. Throws `unavailable` as {@link enterLane} does.
 */
export async function leaveLane(
  storage: StorageTransaction,
  lane: string,
  now: string,
): Promise<string | undefined> {
  await removeFromLane(storage, lane)
  // Whatever the lane's row says: another program may have changed it.
  const rows = table(storage, deliveries)
  const first = { sort: ['turn'], limit: 1, select: ['id'] }
  const [next] = await rows.all({ lane, state: 'behind' }, first)
  if (next === undefined) {
    await table(storage, lanes).remove({ lane })
    return undefined
  }
  await rows.change({ id: next['id'] ?? null, state: 'behind' }, { state: 'waiting', due: now })
  return String(next['id'])
}

/** Removes a delivery from its lane. Throws `unavailable` as {@link enterLane} does. */
export async function removeFromLane(storage: StorageTransaction, lane: string): Promise<void> {
  const rows = table(storage, lanes)
  const found = await fittingOne(rows, { lane })
  if (found === undefined) return
  const open = countOf(found['open']) - 1
  // A row for each lane that there ever was would be too many.
  const changed = open > 0 ? rows.change({ ...found }, { open }) : rows.remove({ ...found })
  if ((await changed) === undefined) throw changedMeanwhile()
}

function changedMeanwhile(): StorageError {
  return new StorageError('unavailable', {
    message: 'storage: another process has changed the lane of the delivery',
    isConflict: true,
  })
}
