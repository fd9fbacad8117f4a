import type { PublishedCollection } from '../definition/published.ts'
import { equal, type Condition, type Row } from '../request/query.ts'
import {
  isStorageError,
  type StorageAdapter,
  type StorageReader,
  type StorageTransaction,
} from '../storage/adapter.ts'
import { deploymentCollections } from './collections.ts'
import type { BuildTicket } from './queue.ts'
import { readStoredPackage, type StoredPackage } from './stored-package.ts'
import { releaseOf, type Release } from './release.ts'

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
  /** Stores a queued release. Returns false and stores nothing if `maxQueued` releases are queued. */
  addQueued(release: Release, maxQueued: number): Promise<boolean>
  /** Returns the number of queued releases of all processes. */
  countQueued(): Promise<number>
  /** queued → building, as a new attempt. Returns undefined if another worker has claimed the release. */
  claim(release: Release, serial: boolean): Promise<Release | undefined>
  /** Stores a heartbeat of the attempt. Returns false if the claim is lost. */
  heartbeat(claimed: Release, heartbeat: number): Promise<boolean>
  /** building → built, with the package. Returns undefined if the claim is lost. */
  finish(claimed: Release, built: StoredPackage, end: BuildEnd): Promise<Release | undefined>
  /** building → failed. Returns undefined if the claim is lost. */
  fail(claimed: Release, error: string, end: BuildEnd): Promise<Release | undefined>
  /** building → queued, called by the worker of the attempt. */
  giveBack(claimed: Release): Promise<void>
  /** building → queued, for a lost worker. Returns undefined if there was a heartbeat since. */
  requeue(release: Release): Promise<Release | undefined>
  find(releaseId: string): Promise<Release | undefined>
  /** Returns the releases in progress, oldest first, at most `limit`. */
  building(limit: number): Promise<readonly Release[]>
  /** Returns a page of the queued releases, oldest first. */
  queued(page: {
    readonly limit: number
    readonly offset: number
  }): Promise<readonly QueuedRelease[]>
  /** Returns the oldest queued release of a solution. */
  nextQueued(solutionId: string): Promise<BuildTicket | undefined>
  /** Returns the package of a release in base64; null before it is built. */
  file(releaseId: string): Promise<string | null>
  /** Stores the snapshot of a release. It replaces the snapshot of an earlier attempt. */
  saveSnapshot(releaseId: string, files: string): Promise<void>
}

const { releases, packages, snapshots, buildLocks } = deploymentCollections
const writing = { mode: 'write', brief: true } as const

/** Creates the store of the releases in a storage. */
export function releaseStore(storage: DeploymentStorage): ReleaseStore {
  const change = (conditions: readonly Condition[], changes: Row): Promise<Release | undefined> =>
    storage.transaction(writing, async (transaction) => changed(transaction, conditions, changes))

  const filter = (
    collection: PublishedCollection,
    conditions: readonly Condition[],
    limit: number,
  ) => {
    const sort = [{ field: 'releaseId', descending: false }]
    const page = { search: null, sort, limit, offset: 0, count: false }
    return storage.filter(collection, { ...page, conditions, select: collection.allNames })
  }

  return {
    add: (release, serial) =>
      storage.transaction(writing, async (transaction) => {
        if (serial && !(await acquireBuildLock(transaction, release.solutionId))) return false
        await transaction.insert(releases, { ...release })
        return true
      }),
    addQueued: (release, maxQueued) =>
      storage.transaction(writing, async (transaction) => {
        if ((await countQueued(transaction)) >= maxQueued) return false
        await transaction.insert(releases, { ...release })
        return true
      }),
    countQueued: () => countQueued(storage),
    claim: (release, serial) =>
      storage.transaction(writing, async (transaction) => {
        if (serial && !(await acquireBuildLock(transaction, release.solutionId))) return undefined
        const attempt = release.attempt + 1
        const conditions = [equal('status', 'queued'), ...ofAttempt(release)]
        return changed(transaction, conditions, { status: 'building', attempt, heartbeat: 0 })
      }),
    heartbeat: async (claimed, heartbeat) =>
      (await change(inProgress(claimed), { heartbeat })) !== undefined,
    finish: (claimed, { fileName, parts }, { built, log }) =>
      storage.transaction(writing, async (transaction) => {
        const changes = { status: 'built', fileName, built, log }
        const release = await changed(transaction, inProgress(claimed), changes)
        if (release === undefined) return undefined
        const { releaseId } = claimed
        for (const part of parts()) await transaction.insert(packages, { releaseId, ...part })
        return release
      }),
    fail: (claimed, error, { built, log }) =>
      change(inProgress(claimed), { status: 'failed', error, built, log }),
    giveBack: async (claimed) => {
      await change(inProgress(claimed), { status: 'queued' })
    },
    requeue: (release) =>
      change([...inProgress(release), equal('heartbeat', release.heartbeat)], {
        status: 'queued',
        lost: release.lost + 1,
      }),
    find: async (releaseId) => {
      const { rows } = await filter(releases, [equal('releaseId', releaseId)], 1)
      return rows[0] && releaseOf(rows[0])
    },
    building: async (limit) => {
      const { rows } = await filter(releases, [equal('status', 'building')], limit)
      return rows.map(releaseOf)
    },
    queued: async ({ limit, offset }) => {
      const { rows } = await storage.filter(releases, {
        conditions: [equal('status', 'queued')],
        search: null,
        sort: [{ field: 'releaseId', descending: false }],
        limit,
        offset,
        // Notes and log are omitted: each may have 100,000 characters.
        select: ['releaseId', 'solutionId', 'attempt', 'heartbeat'],
        count: false,
      })
      return rows as unknown as readonly QueuedRelease[]
    },
    nextQueued: async (solutionId) => {
      const conditions = [equal('solutionId', solutionId), equal('status', 'queued')]
      const { rows } = await filter(releases, conditions, 1)
      return rows[0] && { releaseId: releaseOf(rows[0]).releaseId }
    },
    file: (releaseId) => readStoredPackage(storage, releaseId),
    saveSnapshot: (releaseId, files) =>
      storage.transaction(writing, async (transaction) => {
        await transaction.delete(snapshots, [equal('releaseId', releaseId)])
        await transaction.insert(snapshots, { releaseId, files })
      }),
  }
}

async function countQueued(reader: Pick<StorageReader, 'filter'>): Promise<number> {
  const { count } = await reader.filter(releases, {
    conditions: [equal('status', 'queued')],
    search: null,
    sort: [],
    limit: 0,
    offset: 0,
    select: ['releaseId'],
    count: true,
  })
  return count ?? 0
}

async function changed(
  transaction: StorageTransaction,
  conditions: readonly Condition[],
  changes: Row,
): Promise<Release | undefined> {
  const row = await transaction.update(releases, conditions, changes)
  return row && releaseOf(row)
}

function ofAttempt({ releaseId, attempt }: Release): readonly Condition[] {
  return [equal('releaseId', releaseId), equal('attempt', attempt)]
}

function inProgress(claimed: Release): readonly Condition[] {
  return [...ofAttempt(claimed), equal('status', 'building')]
}

/**
 * Acquires the lock of a solution that builds one release at a time. Returns false while a release of it
 * is in progress. Concurrent callers write the same row, so storage commits only one of them.
 */
async function acquireBuildLock(
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
  const { rows } = await transaction.filter(buildLocks, {
    ...page,
    conditions: ofSolution,
    select: buildLocks.allNames,
  })
  const version = rows[0]?.['version'] as number | undefined
  if (version === undefined) return insertBuildLock(transaction, solutionId)
  const conditions = [...ofSolution, equal('version', version)]
  const changes = { version: version + 1 }
  return (await transaction.update(buildLocks, conditions, changes)) !== undefined
}

async function insertBuildLock(
  transaction: StorageTransaction,
  solutionId: string,
): Promise<boolean> {
  try {
    await transaction.insert(buildLocks, { solutionId, version: 1 })
    return true
  } catch (error) {
    if (isStorageError(error) && error.kind === 'duplicate') return false
    throw error
  }
}
