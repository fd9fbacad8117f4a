import type { ServiceHost } from '../service-part.ts'
import { endUnfitJobs, type EndUnfit } from '../work/unfit-jobs.ts'
import { WorkerPool } from '../work/worker-pool.ts'
import type { BuildEvent } from './build-event.ts'
import { BuildSlots } from './build-slots.ts'
import { BuildWorker } from './build-worker.ts'
import { inTime } from '../maybe-promise.ts'
import { Builds } from './builds.ts'
import type { CompleteDeployment } from './options.ts'
import type { BuildQueue } from './queue.ts'
import { publishedReleases, type PublishedReleases } from './published-releases.ts'
import type { Release, ReleaseStatus } from './release.ts'
import { buildJobs, ReleaseStore, type DeploymentStorage } from './release-store.ts'
import { runBuild, type BuildDependencies } from './run-build.ts'
import { snapshotCollections, snapshotText, takeSnapshot } from './snapshot.ts'
import type { BuildLoad } from '../workload.ts'
import type { Solution } from './solution.ts'
import { storageQueue } from './storage-queue.ts'

/** A deployment as a part of its service. */
export interface StartedDeployment {
  readonly releases: PublishedReleases
  readonly builds: Builds
  readonly workers: WorkerPool
  readonly storage: DeploymentStorage
  /** Returns the numbers of releases that are not built yet. */
  load(): Promise<BuildLoad>
}

/** What {@link startDeployment} uses besides the options of deployment. */
export interface StartDependencies {
  readonly host: Pick<ServiceHost, 'storage' | 'collections' | 'report'>
  readonly solutions: ReadonlyMap<string, Solution>
  readonly emit: (event: BuildEvent) => void
}

/**
 * Connects deployment with the storage of its service. Starts no worker. Throws a TypeError if
 * `snapshotData` names a collection that is not stored.
 */
export function startDeployment(
  options: CompleteDeployment,
  { host, solutions, emit: listen }: StartDependencies,
): StartedDeployment {
  const emit = (event: BuildEvent): void => {
    listen(event)
    if (event.type === 'discarded') host.report({ ...event, type: 'build-discarded' })
  }
  const { storage } = host
  const { serial, pollInterval, lease, attempts: maxLost, now } = options
  const data = snapshotCollections(options.snapshotData, host.collections)
  const endUnfit = failUnfitReleases(storage, now, emit)
  const store = new ReleaseStore(storage, endUnfit)
  const dependencies: BuildDependencies = {
    ...options,
    store,
    solutions,
    emit,
    takeSnapshot: async (release, solution) => {
      const files = await takeSnapshot(storage, solution, data)
      const isSaved = await store.saveSnapshot(release, snapshotText(files))
      return isSaved ? files : undefined
    },
  }
  const report = ({ error }: { readonly error: unknown }): void => {
    emit({ type: 'unreachable', error })
  }
  const queue = options.queue
    ? bounded(options.queue)
    : storageQueue({ store, serial, pollInterval, report })
  const build = async (claimed: Release, closing: AbortSignal): Promise<Release | undefined> => {
    const { releaseId, attempt } = claimed
    emit({ type: 'started', releaseId, attempt })
    const ended = await runBuild(dependencies, claimed, closing)
    emit({ type: 'ended', releaseId, attempt, status: ended?.status ?? 'queued' })
    return ended
  }
  const slots = new BuildSlots()
  return {
    storage,
    load: async () => ({
      queued: await store.countQueued(),
      building: await store.countBuilding(),
    }),
    releases: publishedReleases(storage, store),
    builds: new Builds({ ...options, store, queue, build, emit, slots }),
    workers: new WorkerPool(
      (concurrency) =>
        new BuildWorker(
          { store, queue, build, serial, slots, lease, maxLost, now, emit, endUnfit },
          concurrency,
        ),
    ),
  }
}

const maxAnnounceMilliseconds = 5_000

/** Returns a queue whose announcements fail in time: a request waits for them, and some engines wait for their server. */
function bounded(queue: BuildQueue): BuildQueue {
  const tooLate = `The build queue has not accepted an announcement within ${maxAnnounceMilliseconds} ms.`
  return {
    name: queue.name,
    process: (work, options) => queue.process(work, options),
    announce: (ticket) => {
      const announced = (async () => queue.announce(ticket))()
      return inTime(announced, maxAnnounceMilliseconds, (reject) => {
        reject(new Error(tooLate))
      })
    },
  }
}

/** Returns the function that fails releases whose stored values do not fit their fields. */
function failUnfitReleases(
  storage: Pick<DeploymentStorage, 'transaction'>,
  now: () => Date,
  emit: (event: BuildEvent) => void,
): EndUnfit<ReleaseStatus> {
  return endUnfitJobs({
    storage,
    jobs: buildJobs,
    now,
    changes: (built) => ({
      ...{ status: 'failed', built, attempt: 0, heartbeat: 0, lost: 0 },
      error: 'Values of the stored release do not fit their fields.',
    }),
    onEnd: ({ key, error }) => {
      emit({ type: 'failed', releaseId: String(key['releaseId']), error })
    },
    report: (error) => {
      emit({ type: 'discarded', releaseId: null, error })
    },
    cannot: 'The release cannot be failed.',
  })
}
