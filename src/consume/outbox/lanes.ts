import { StorageError, type StorageTransaction } from '../../storage/adapter.ts'
import { table } from '../../storage/table.ts'
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
  const found = await rows.one({ lane })
  if (found === undefined) {
    await rows.insertMissing({ lane, turn: 1, open: 1 })
    return { turn: 1, isFirst: true }
  }
  const turn = Number(found['turn']) + 1
  const open = Number(found['open']) + 1
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
  if ((await removeFromLane(storage, lane)) === 0) return undefined
  const rows = table(storage, deliveries)
  const [next] = await rows.all({ lane, state: 'behind' }, { sort: ['turn'], limit: 1 })
  if (next === undefined) return undefined
  await rows.change({ id: next['id'] ?? null, state: 'behind' }, { state: 'waiting', due: now })
  return String(next['id'])
}

/**
 * Removes a delivery from its lane, and returns how many others of the lane are open. Throws `unavailable` as
 * {@link enterLane} does.
 */
export async function removeFromLane(storage: StorageTransaction, lane: string): Promise<number> {
  const rows = table(storage, lanes)
  const found = await rows.one({ lane })
  if (found === undefined) return 0
  const open = Number(found['open']) - 1
  // A row for each lane that there ever was would be too many.
  const changed = open > 0 ? rows.change({ ...found }, { open }) : rows.remove({ ...found })
  if ((await changed) === undefined) throw changedMeanwhile()
  return open
}

function changedMeanwhile(): StorageError {
  return new StorageError('unavailable', {
    message: 'storage: another process has changed the lane of the delivery',
    isConflict: true,
  })
}
