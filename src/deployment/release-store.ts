import type { Row } from '../request/query.ts'
import type { StorageAdapter, StorageTransaction } from '../storage/adapter.ts'
import { table, tableReader, type TablePage, type TableReader } from '../storage/table.ts'
import { JobTable } from '../work/jobs.ts'
import type { EndUnfit } from '../work/unfit-jobs.ts'
import { acquireBuildLock, lockQueue } from './build-locks.ts'
import { deploymentCollections } from './collections.ts'
import { noOpenLimit, requireOpen, type OpenLimit } from './open-limit.ts'
import type { BuildTicket } from './queue.ts'
import { readStoredPackage, type StoredPackage } from './stored-package.ts'
import { releaseOf, type Release, type ReleaseStatus } from './release.ts'

/** What deployment uses of the storage port. */
export type DeploymentStorage = Pick<StorageAdapter, 'filter' | 'transaction'>

/** The facts about the end of a build. */
export interface BuildEnd {
  /** The time of the end, as an instant. */
  readonly built: string
  readonly log: string | null
}

/** The fields of a queued release that workers need to select one. */
export type QueuedRelease = Pick<Release, 'releaseId' | 'solutionId' | 'attempt' | 'heartbeat'>

/** The fields of a release in progress that are needed to take it back from a worker that was lost. */
export type BuildingRelease = QueuedRelease & Pick<Release, 'lost'>

const { releases, packages, snapshots } = deploymentCollections
const writing = { mode: 'write', brief: true } as const
// Notes and log are omitted: each may have 100,000 characters.
const ofQueued = ['releaseId', 'solutionId', 'attempt', 'heartbeat']

/** The releases as jobs of workers. */
export const buildJobs = new JobTable<Release, 'releaseId', ReleaseStatus>({
  collection: releases,
  key: 'releaseId',
  stateField: 'status',
  waiting: 'queued',
  claimed: 'building',
  jobOf: releaseOf,
})

/** The releases in storage, which are also the jobs of their builds. */
export class ReleaseStore {
  readonly #storage: DeploymentStorage
  readonly #stored: TableReader
  readonly #endUnfit: EndUnfit<ReleaseStatus>
  #lastAdded: Promise<unknown> = Promise.resolve()

  /** Rows that do not fit are passed to `endUnfit`. */
  constructor(
    storage: DeploymentStorage,
    endUnfit: EndUnfit<ReleaseStatus> = () => Promise.resolve(),
  ) {
    this.#storage = storage
    this.#stored = tableReader(storage, releases)
    this.#endUnfit = endUnfit
  }

  /**
   * Stores a new release with status `building`. With `serial`, returns false and stores nothing while
   * its solution has another build.
   */
  add(release: Release, serial: boolean): Promise<boolean> {
    return this.#write(async (on) => {
      if (serial && !(await acquireBuildLock(on, release.solutionId))) return false
      await table(on, releases).insert({ ...release })
      return true
    })
  }

  /**
   * Stores a queued release. Returns false and stores nothing if `maxQueued` releases are queued. Rejects with an
   * OpenReleasesError if its solution has too many open releases.
   */
  addQueued(release: Release, maxQueued: number, open: OpenLimit = noOpenLimit): Promise<boolean> {
    return this.#inTurn(() =>
      this.#write(async (on) => {
        await lockQueue(on)
        const own = table(on, releases)
        await requireOpen(own, release.solutionId, open)
        if ((await own.count({ status: 'queued' })) >= maxQueued) return false
        await own.insert({ ...release })
        return true
      }),
    )
  }

  /**
   * Calls `reserve` if a solution may have another open release, before any other release of this process is checked.
   * Rejects with an OpenReleasesError if it has too many.
   */
  reserve(solutionId: string, open: OpenLimit, reserve: () => void): Promise<void> {
    return this.#inTurn(async () => {
      await requireOpen(this.#stored, solutionId, open)
      reserve()
    })
  }

  /** Returns the number of queued releases of all processes. */
  countQueued(): Promise<number> {
    return buildJobs.count(this.#storage, 'queued')
  }

  /** Returns the number of releases that workers of all processes build. */
  countBuilding(): Promise<number> {
    return buildJobs.count(this.#storage, 'building')
  }

  /**
   * queued → building, as a new attempt. Returns undefined if another worker has claimed the release. With `serial`, also
   * while its solution has another build.
   */
  claim(release: Release, serial: boolean): Promise<Release | undefined> {
    return this.#write(async (on) => {
      if (serial && !(await acquireBuildLock(on, release.solutionId))) return undefined
      return buildJobs.claim(on, release, { heartbeat: 0 })
    })
  }

  /** Stores a heartbeat of the attempt. Returns false if the claim is lost. */
  async heartbeat(claimed: Release, heartbeat: number): Promise<boolean> {
    return (
      (await this.#write((on) => buildJobs.changeClaimed(on, claimed, { heartbeat }))) !== undefined
    )
  }

  /** building → built, with the package. Returns undefined if the claim is lost. */
  finish(
    claimed: Release,
    { fileName, parts }: StoredPackage,
    { built, log }: BuildEnd,
  ): Promise<Release | undefined> {
    return this.#write(async (on) => {
      const changes = { status: 'built', fileName, built, log }
      const release = await buildJobs.changeClaimed(on, claimed, changes)
      if (release === undefined) return undefined
      const { releaseId } = claimed
      const stored = table(on, packages)
      for (const part of parts()) await stored.insert({ releaseId, ...part })
      return release
    })
  }

  /** building → failed. Returns undefined if the claim is lost. Without a log, the stored one is kept. */
  fail(
    claimed: Pick<Release, 'releaseId' | 'attempt'>,
    error: string,
    end: Pick<BuildEnd, 'built'> & Partial<BuildEnd>,
  ): Promise<Release | undefined> {
    return this.#write((on) =>
      buildJobs.changeClaimed(on, claimed, { status: 'failed', error, ...end }),
    )
  }

  /** building → queued, called by the worker of the attempt. */
  async giveBack(claimed: Release): Promise<void> {
    await this.#write((on) => buildJobs.giveBack(on, claimed))
  }

  /** building → queued, for a lost worker. Returns undefined if there was a heartbeat since. */
  requeue(release: BuildingRelease, lost: number): Promise<Release | undefined> {
    const { heartbeat } = release
    return this.#write((on) => buildJobs.giveBack(on, release, { lost }, { heartbeat }))
  }

  /** Returns a release, or undefined. */
  async find(releaseId: string): Promise<Release | undefined> {
    const row = await this.#stored.one({ releaseId })
    return row && releaseOf(row)
  }

  /** Returns the releases in progress, oldest first, at most `limit`. */
  async building(limit: number): Promise<readonly BuildingRelease[]> {
    const rows = await this.#inState('building', { limit, select: [...ofQueued, 'lost'] })
    return rows as unknown as readonly BuildingRelease[]
  }

  /** Returns a page of the queued releases, oldest first. */
  async queued(page: {
    readonly limit: number
    readonly offset: number
  }): Promise<readonly QueuedRelease[]> {
    const rows = await this.#inState('queued', { ...page, select: ofQueued })
    return rows as unknown as readonly QueuedRelease[]
  }

  /** Returns the oldest queued release of a solution. */
  async nextQueued(solutionId: string): Promise<BuildTicket | undefined> {
    const row = await this.#stored.one({ solutionId, status: 'queued' }, ['releaseId'])
    return row && { releaseId: releaseOf(row).releaseId }
  }

  /** Returns the package of a release in base64; null before it is built. */
  file(releaseId: string): Promise<string | null> {
    return readStoredPackage(this.#storage, releaseId)
  }

  /**
   * Stores the snapshot of a release in progress. It replaces the snapshot of an earlier attempt. Returns false and
   * stores nothing if the claim is lost.
   */
  saveSnapshot(claimed: Release, files: string): Promise<boolean> {
    return this.#write(async (on) => {
      const { releaseId, lost } = claimed
      // A write, so that it conflicts with the claim of another worker.
      if ((await buildJobs.changeClaimed(on, claimed, { lost })) === undefined) return false
      const own = table(on, snapshots)
      await own.remove({ releaseId })
      await own.insert({ releaseId, files })
      return true
    })
  }

  #write<Result>(work: (on: StorageTransaction) => Promise<Result>): Promise<Result> {
    return this.#storage.transaction(writing, work)
  }

  async #inState(status: 'queued' | 'building', page: TablePage): Promise<readonly Row[]> {
    const { rows, unfit } = await buildJobs.inState(this.#storage, status, page)
    await this.#endUnfit(status, unfit)
    return rows
  }

  // One after the other, because concurrent transactions of this process would conflict.
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#lastAdded.then(work)
    this.#lastAdded = done.catch(() => undefined)
    return done
  }
}
