import type { Row } from '../request/query.ts'
import {
  isStorageError,
  StorageError,
  type StorageAdapter,
  type StorageTransaction,
} from '../storage/adapter.ts'
import { fittingOne, readFitting } from '../storage/fitting-rows.ts'
import { table, tableReader, type Table, type TablePage } from '../storage/table.ts'
import { countOf, nextAttempt } from '../work/attempts.ts'
import { deploymentCollections } from './collections.ts'
import type { BuildTicket } from './queue.ts'
import { readStoredPackage, type StoredPackage } from './stored-package.ts'
import { releaseOf, type Release } from './release.ts'
import type { FailUnfit } from './unfit-releases.ts'

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
export type BuildingRelease = Pick<
  Release,
  'releaseId' | 'solutionId' | 'attempt' | 'heartbeat' | 'lost'
>

/** How many releases of a solution may be open, and how many requests wait with one that is not stored yet. */
export interface OpenLimit {
  readonly max: number
  readonly waiting: () => number
}

const noLimit: OpenLimit = { max: Infinity, waiting: () => 0 }

/**
 * The releases in storage. A worker claims a release by compare-and-set before it builds. Every later
 * change compares the attempt, so a worker that has lost its claim changes nothing.
 */
export interface ReleaseStore {
  /**
   * Stores a new release with status `building`. With `serial`, returns false and stores nothing while
   * its solution has another build.
   */
  add(release: Release, serial: boolean): Promise<boolean>
  /**
   * Stores a queued release. Returns false and stores nothing if `maxQueued` releases are queued. Rejects with an
   * OpenReleasesError if its solution has too many open releases.
   */
  addQueued(release: Release, maxQueued: number, open?: OpenLimit): Promise<boolean>
  /**
   * Calls `reserve` if a solution may have another open release, before any other release of this process is checked.
   * Rejects with an OpenReleasesError if it has too many.
   */
  reserve(solutionId: string, open: OpenLimit, reserve: () => void): Promise<void>
  /** Returns the number of queued releases of all processes. */
  countQueued(): Promise<number>
  /** Returns the number of releases that workers of all processes build. */
  countBuilding(): Promise<number>
  /** queued → building, as a new attempt. Returns undefined if another worker has claimed the release. */
  claim(release: Release, serial: boolean): Promise<Release | undefined>
  /** Stores a heartbeat of the attempt. Returns false if the claim is lost. */
  heartbeat(claimed: Release, heartbeat: number): Promise<boolean>
  /** building → built, with the package. Returns undefined if the claim is lost. */
  finish(claimed: Release, built: StoredPackage, end: BuildEnd): Promise<Release | undefined>
  /** building → failed. Returns undefined if the claim is lost. Without a log, the stored one is kept. */
  fail(
    claimed: Pick<Release, 'releaseId' | 'attempt'>,
    error: string,
    end: Pick<BuildEnd, 'built'> & Partial<BuildEnd>,
  ): Promise<Release | undefined>
  /** building → queued, called by the worker of the attempt. */
  giveBack(claimed: Release): Promise<void>
  /** building → queued, for a lost worker. Returns undefined if there was a heartbeat since. */
  requeue(release: BuildingRelease): Promise<Release | undefined>
  find(releaseId: string): Promise<Release | undefined>
  /** Returns the releases in progress, oldest first, at most `limit`. */
  building(limit: number): Promise<readonly BuildingRelease[]>
  /** Returns a page of the queued releases, oldest first. */
  queued(page: {
    readonly limit: number
    readonly offset: number
  }): Promise<readonly QueuedRelease[]>
  /** Returns the oldest queued release of a solution. */
  nextQueued(solutionId: string): Promise<BuildTicket | undefined>
  /** Returns the package of a release in base64; null before it is built. */
  file(releaseId: string): Promise<string | null>
  /**
   * Stores the snapshot of a release in progress. It replaces the snapshot of an earlier attempt. Returns false and
   * stores nothing if the claim is lost.
   */
  saveSnapshot(claimed: Release, files: string): Promise<boolean>
}

const { releases, packages, snapshots, buildLocks } = deploymentCollections
const writing = { mode: 'write', brief: true } as const

/** Creates the store of the releases in a storage. Rows that do not fit are passed to `failUnfit`. */
export function releaseStore(
  storage: DeploymentStorage,
  failUnfit: FailUnfit = () => Promise.resolve(),
): ReleaseStore {
  const stored = tableReader(storage, releases)
  let lastAdded: Promise<unknown> = Promise.resolve()

  const change = (where: Row, changes: Row): Promise<Release | undefined> =>
    storage.transaction(writing, async (transaction) => changed(transaction, where, changes))

  // Notes and log are omitted: each may have 100,000 characters.
  const ofQueued = ['releaseId', 'solutionId', 'attempt', 'heartbeat']

  async function inState(
    status: 'queued' | 'building',
    page: TablePage,
  ): Promise<readonly QueuedRelease[]> {
    const { rows, unfit } = await readFitting(storage, releases, { status }, page)
    await failUnfit(status, unfit)
    return rows as unknown as readonly QueuedRelease[]
  }

  // One after the other, because those of this process would conflict.
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = lastAdded.then(work)
    lastAdded = done.catch(() => undefined)
    return done
  }

  return {
    add: (release, serial) =>
      storage.transaction(writing, async (transaction) => {
        if (serial && !(await acquireBuildLock(transaction, release.solutionId))) return false
        await table(transaction, releases).insert({ ...release })
        return true
      }),
    addQueued(release, maxQueued, open = noLimit) {
      return inTurn(() =>
        storage.transaction(writing, async (transaction) => {
          await lockQueue(transaction)
          const own = table(transaction, releases)
          await requireOpen(own, release.solutionId, open)
          if ((await own.count({ status: 'queued' })) >= maxQueued) return false
          await own.insert({ ...release })
          return true
        }),
      )
    },
    reserve: (solutionId, open, reserve) =>
      inTurn(async () => {
        await requireOpen(stored, solutionId, open)
        reserve()
      }),
    countQueued: async () => stored.count({ status: 'queued' }),
    countBuilding: async () => stored.count({ status: 'building' }),
    claim: (release, serial) =>
      storage.transaction(writing, async (transaction) => {
        if (serial && !(await acquireBuildLock(transaction, release.solutionId))) return undefined
        const attempt = nextAttempt(release.attempt)
        const where = { ...ofAttempt(release), status: 'queued' }
        return changed(transaction, where, { status: 'building', attempt, heartbeat: 0 })
      }),
    heartbeat: async (claimed, heartbeat) =>
      (await change(inProgress(claimed), { heartbeat })) !== undefined,
    finish: (claimed, { fileName, parts }, { built, log }) =>
      storage.transaction(writing, async (transaction) => {
        const changes = { status: 'built', fileName, built, log }
        const release = await changed(transaction, inProgress(claimed), changes)
        if (release === undefined) return undefined
        const { releaseId } = claimed
        const stored = table(transaction, packages)
        for (const part of parts()) await stored.insert({ releaseId, ...part })
        return release
      }),
    fail: (claimed, error, end) => change(inProgress(claimed), { status: 'failed', error, ...end }),
    giveBack: async (claimed) => {
      await change(inProgress(claimed), { status: 'queued' })
    },
    requeue: (release) =>
      change(
        { ...inProgress(release), heartbeat: release.heartbeat },
        { status: 'queued', lost: countOf(release.lost) + 1 },
      ),
    find: async (releaseId) => {
      const row = await stored.one({ releaseId })
      return row && releaseOf(row)
    },
    building: async (limit) =>
      inState('building', { limit, select: [...ofQueued, 'lost'] }) as Promise<
        readonly BuildingRelease[]
      >,
    queued: (page) => inState('queued', { ...page, select: ofQueued }),
    nextQueued: async (solutionId) => {
      const row = await stored.one({ solutionId, status: 'queued' }, ['releaseId'])
      return row && { releaseId: releaseOf(row).releaseId }
    },
    file: (releaseId) => readStoredPackage(storage, releaseId),
    saveSnapshot: (claimed, files) =>
      storage.transaction(writing, async (transaction) => {
        const { releaseId, lost } = claimed
        // A write, so that it conflicts with the claim of another worker.
        const release = await changed(transaction, inProgress(claimed), { lost })
        if (release === undefined) return false
        const own = table(transaction, snapshots)
        await own.remove({ releaseId })
        await own.insert({ releaseId, files })
        return true
      }),
  }
}

/** The error of a solution that has too many open releases. Its message is for clients. */
export class OpenReleasesError extends Error {
  constructor(maxOpen: number) {
    super(
      `The solution has ${maxOpen} open releases, which is the maximum. Wait until one of them is built.`,
    )
    this.name = 'OpenReleasesError'
  }
}

async function requireOpen(
  reader: Pick<Table, 'count'>,
  solutionId: string,
  { max, waiting }: OpenLimit,
): Promise<void> {
  if (max === Infinity) return
  // Counted first: a release that is stored meanwhile counts twice, and never not at all.
  const unstored = waiting()
  const queued = await reader.count({ solutionId, status: 'queued' })
  const building = await reader.count({ solutionId, status: 'building' })
  if (unstored + queued + building >= max) throw new OpenReleasesError(max)
}

async function changed(
  transaction: StorageTransaction,
  where: Row,
  changes: Row,
): Promise<Release | undefined> {
  const row = await table(transaction, releases).change(where, changes)
  return row && releaseOf(row)
}

function ofAttempt({ releaseId, attempt }: Pick<Release, 'releaseId' | 'attempt'>): Row {
  return { releaseId, attempt }
}

function inProgress(claimed: Pick<Release, 'releaseId' | 'attempt'>): Row {
  return { ...ofAttempt(claimed), status: 'building' }
}

/**
 * Acquires the lock of a solution that builds one release at a time. Returns false while a release of it
 * is in progress. Concurrent callers write the same row, so storage commits only one of them.
 */
async function acquireBuildLock(
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
async function lockQueue(transaction: StorageTransaction): Promise<void> {
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
