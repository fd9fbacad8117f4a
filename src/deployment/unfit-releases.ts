import type { StorageAdapter } from '../storage/adapter.ts'
import type { UnfitRow } from '../storage/fitting-rows.ts'
import { table } from '../storage/table.ts'
import { reportOnce } from '../work/report-once.ts'
import type { BuildEvent } from './build-event.ts'
import { deploymentCollections } from './collections.ts'
import type { Release } from './release.ts'

const { releases } = deploymentCollections
const writing = { mode: 'write', brief: true } as const
const reason = 'Values of the stored release do not fit their fields.'

/** Lets releases fail whose stored values do not fit their fields, so that workers do not try them again. */
export type FailUnfit = (
  status: Extract<Release['status'], 'queued' | 'building'>,
  found: readonly UnfitRow[],
) => Promise<void>

/** Creates the function. It never rejects: what it can't change, it reports once. */
export function failUnfitReleases(
  storage: Pick<StorageAdapter, 'transaction'>,
  now: () => Date,
  emit: (event: BuildEvent) => void,
): FailUnfit {
  const report = reportOnce((error) => {
    emit({ type: 'discarded', releaseId: null, error })
  })

  async function fail(status: Release['status'], { key, error }: UnfitRow): Promise<void> {
    if (key === undefined) {
      report(error)
      return
    }
    const ended = { status: 'failed', error: reason, built: now().toISOString() }
    // What workers count, so that the row can be read again.
    const changes = { ...ended, attempt: 0, heartbeat: 0, lost: 0 }
    try {
      const failed = await storage.transaction(writing, async (transaction) =>
        table(transaction, releases).change({ ...key, status }, changes),
      )
      if (failed !== undefined) emit({ type: 'failed', releaseId: String(key['releaseId']), error })
    } catch (cause) {
      report(new Error(`${error.message} The release can not be failed.`, { cause }))
    }
  }

  return async (status, found) => {
    for (const each of found) await fail(status, each)
  }
}
