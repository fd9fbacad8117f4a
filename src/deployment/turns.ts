import { equal } from '../event/query.ts'
import { isStorageError, type StorageTransaction } from '../storage/adapter.ts'
import { deploymentCollections } from './collections.ts'

const { releases, turns } = deploymentCollections

/**
 * Whether a solution of which one release is built at a time may build now. Two who ask at once write
 * the same row, so that storage lets only one of them commit.
 */
export async function takeTurn(
  transaction: StorageTransaction,
  solutionId: string,
): Promise<boolean> {
  const page = { search: null, sort: [], limit: 1, offset: 0, count: false }
  const ofSolution = [equal('solutionId', solutionId)]
  const building = await transaction.filter(releases, {
    ...page,
    conditions: [...ofSolution, equal('status', 'building')],
    select: ['releaseId'],
  })
  if (building.rows.length > 0) return false
  const { rows } = await transaction.filter(turns, {
    ...page,
    conditions: ofSolution,
    select: turns.allNames,
  })
  const turn = rows[0]?.['turn'] as number | undefined
  if (turn === undefined) return isFirst(transaction, solutionId)
  const conditions = [...ofSolution, equal('turn', turn)]
  return (await transaction.update(turns, conditions, { turn: turn + 1 })) !== undefined
}

async function isFirst(transaction: StorageTransaction, solutionId: string): Promise<boolean> {
  try {
    await transaction.insert(turns, { solutionId, turn: 1 })
    return true
  } catch (error) {
    if (isStorageError(error) && error.kind === 'duplicate') return false
    throw error
  }
}
