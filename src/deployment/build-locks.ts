import { isStorageError, StorageError, type StorageTransaction } from '../storage/adapter.ts'
import { fittingOne } from '../storage/fitting-rows.ts'
import { table, tableReader, type Table } from '../storage/table.ts'
import { nextAttempt } from '../work/attempts.ts'
import { deploymentCollections } from './collections.ts'

const { releases, buildLocks } = deploymentCollections

/**
 * Acquires the lock of a solution that builds one release at a time. Returns false while a release of it
 * is in progress. Concurrent callers write the same row, so storage commits only one of them.
 */
export async function acquireBuildLock(
  transaction: StorageTransaction,
  solutionId: string,
): Promise<boolean> {
  const building = { solutionId, status: 'building' }
  if ((await tableReader(transaction, releases).one(building, ['releaseId'])) !== undefined) {
    return false
  }
  return changeLock(transaction, solutionId)
}

// A character that no solution has in its id.
const queueLock = '*'

/** Acquires the lock of the queue, so that no concurrent transaction counts the same queued releases. */
export async function lockQueue(transaction: StorageTransaction): Promise<void> {
  if (await changeLock(transaction, queueLock)) return
  throw new StorageError('unavailable', { isConflict: true })
}

/** Changes the row of a lock. Returns false if a concurrent transaction has changed it. */
async function changeLock(transaction: StorageTransaction, solutionId: string): Promise<boolean> {
  const locks = table(transaction, buildLocks)
  const lock = await fittingOne(locks, { solutionId })
  if (lock === undefined) return insertBuildLock(locks, solutionId)
  const version = lock['version'] as number
  const changes = { version: nextAttempt(version) }
  return (await locks.change({ solutionId, version }, changes)) !== undefined
}

async function insertBuildLock(locks: Table, solutionId: string): Promise<boolean> {
  try {
    await locks.insert({ solutionId, version: 1 })
    return true
  } catch (error) {
    if (isStorageError(error) && error.kind === 'duplicate') return false
    throw error
  }
}
