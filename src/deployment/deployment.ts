import { z } from 'zod'
import type { ApplicationDefinition } from '../definition/application.ts'
import { mistaken } from '../definition/mistake.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { completeOptions } from '../definition/options.ts'
import type { ServiceFacts } from '../definition/service-facts.ts'
import { harmless } from '../observation.ts'
import { defaultBrand } from '../protocol/names.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { deploymentApplication } from './application.ts'
import type { BuildEvent } from './build-event.ts'
import { buildSlots } from './build-slots.ts'
import { openBuilds } from './builds.ts'
import { deploymentStorage } from './deployment-storage.ts'
import { completeDeployment, type CompleteDeployment, type DeploymentOptions } from './options.ts'
import type { QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import { releaseStore } from './release-store.ts'
import { runBuild, type BuildDependencies } from './run-build.ts'
import { takeSnapshot } from './snapshot.ts'
import { storageQueue } from './storage-queue.ts'
import { openWorkerPool } from './worker-pool.ts'

/** The application, storage and workers of deployment. */
export interface Deployment {
  /**
   * The application of deployment. Spread it into the applications of the service, which publishes it
   * under its own brand prefix (`svc-deploy` by default) and according to its own service version.
   */
  readonly applications: Readonly<Record<'svc-deploy', ApplicationDefinition>>
  /** The storage to pass to the service: your storage with the releases added. */
  readonly storage: StorageAdapter
  /** Starts another worker of the queue in this process. Call it once storage is open. */
  work(options?: { readonly concurrency?: number }): QueueWorker
  /** Calls `listener` for each build event in this process, until the returned function is called. */
  watch(listener: (event: BuildEvent) => void): () => void
}

/**
 * Creates the application that builds and delivers releases; see docs/guides/deployment.md. Throws a
 * TypeError that lists every mistake in the options.
 *
 * ```ts
 * const deployment = createDeployment({ storage, solutions, environment, builder: definitionBuilder() })
 * const service = createService({
 *   applications: { ...applications, ...deployment.applications },
 *   storage: deployment.storage,
 *   security: apiKeys({ name: 'API Key' }),
 * })
 * ```
 */
export function createDeployment(given: DeploymentOptions): Deployment {
  const options = completeDeployment(given)
  const { storage } = options
  let service: Pick<ServiceFacts, 'brand' | 'authenticationType'> = {
    brand: defaultBrand,
    authenticationType: undefined,
  }
  const listeners = new Set([harmless(options.watch)])
  const emit = (event: BuildEvent): void => {
    for (const listen of listeners) listen(event)
  }
  const store = releaseStore(storage)
  const solutions = new Map(options.solutions.map((solution) => [solution.solutionId, solution]))
  let data: readonly PublishedCollection[] = []
  const dependencies: BuildDependencies = {
    ...options,
    store,
    solutions,
    emit,
    takeSnapshot: async ({ releaseId }, solution) => {
      const files = await takeSnapshot(storage, solution, data)
      const contents = files.map(
        ({ path, bytes }) => [path, Buffer.from(bytes).toString()] as const,
      )
      await store.saveSnapshot(releaseId, JSON.stringify(Object.fromEntries(contents)))
      return files
    },
  }
  const report = ({ error }: { readonly error: unknown }): void => {
    emit({ type: 'unreachable', error })
  }
  const queue =
    options.queue ??
    storageQueue({
      store,
      serial: options.serial,
      pollInterval: options.pollInterval,
      report,
    })
  const build = async (claimed: Release, closing: AbortSignal): Promise<Release | undefined> => {
    const { releaseId, attempt } = claimed
    emit({ type: 'started', releaseId, attempt })
    const ended = await runBuild(dependencies, claimed, closing)
    emit({ type: 'ended', releaseId, attempt, status: ended?.status ?? 'queued' })
    return ended
  }
  const slots = buildSlots()
  const builds = openBuilds({ ...options, store, queue, build, emit, slots })
  const { serial, lease, attempts: maxLost, now } = options
  const workerPool = openWorkerPool({
    store,
    queue,
    build,
    serial,
    slots,
    lease,
    maxLost,
    now,
    emit,
  })

  return {
    applications: {
      'svc-deploy': deploymentApplication({
        ...options,
        solutions,
        published: (facts) => {
          service = facts
        },
      }),
    },
    storage: deploymentStorage({
      storage,
      application: () => `${service.brand}-deploy`,
      environment: () => ({
        ...options.environment,
        authenticationType: service.authenticationType ?? 'api_key',
      }),
      store,
      buildNow: (row) => builds.buildNow(row),
      enqueue: (row) => builds.enqueue(row),
      opened: (collections) => {
        data = snapshotCollections(options, collections)
        if (options.workers > 0) workerPool.work(options.workers)
      },
      closing: async () => {
        await Promise.all([builds.close(), workerPool.stop()])
      },
    }),
    work: (chosen = {}) => workerPool.work(completeOptions('work', workShape, chosen).concurrency),
    watch: (listener) => {
      const listen = harmless(listener)
      listeners.add(listen)
      return () => {
        listeners.delete(listen)
      }
    },
  }
}

const workShape = z.strictObject({ concurrency: z.int().min(1).max(64).default(1) })

/** Returns the collections of `snapshotData`. Throws a TypeError if one is not published. */
function snapshotCollections(
  { snapshotData }: CompleteDeployment,
  collections: readonly PublishedCollection[],
): readonly PublishedCollection[] {
  const found = snapshotData.map((path) =>
    collections.find(({ application, name }) => `${application}/${name}` === path),
  )
  const mistakes = snapshotData
    .filter((_, index) => found[index] === undefined)
    .map((path) => ({ place: 'deployment.snapshotData', advice: `there is no collection ${path}` }))
  if (mistakes.length > 0) throw mistaken(mistakes)
  return found.filter((collection) => collection !== undefined)
}
