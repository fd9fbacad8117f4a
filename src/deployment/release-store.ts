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

/** What deployment needs of storage. */
export type DeploymentStorage = Pick<StorageAdapter, 'filter' | 'transaction'>

/** How a build ended, beside its package. */
export interface BuildEnd {
  /** When, as an instant. */
  readonly built: string
  readonly log: string | null
}

/** A release that waits, without what only its build needs. */
export type QueuedRelease = Pick<Release, 'releaseId' | 'solutionId' | 'attempt' | 'beat'>

/**
 * Releases in storage. Whoever builds one has claimed it by compare-and-set; each change names the
 * attempt that makes it, so that one that lost its claim changes nothing (D52).
 */
export interface ReleaseStore {
  /** Stores a new release. False, and nothing is stored, when its solution builds one at a time and is building. */
  add(release: Release, serial: boolean): Promise<boolean>
  /** Stores a release that waits. False, and nothing is stored, when as many wait as may. */
  addQueued(release: Release, most: number): Promise<boolean>
  /** How many releases are queued, of all processes. */
  countQueued(): Promise<number>
  /** queued → building, as a new attempt; undefined when somebody else was first. */
  claim(release: Release, serial: boolean): Promise<Release | undefined>
  /** Tells that the attempt is alive; false when it has lost its claim. */
  beat(claimed: Release, beat: number): Promise<boolean>
  /** building → built, with its package; undefined when the claim is lost. */
  finish(claimed: Release, built: StoredPackage, end: BuildEnd): Promise<Release | undefined>
  /** building → failed; undefined when the claim is lost. */
  fail(claimed: Release, error: string, end: BuildEnd): Promise<Release | undefined>
  /** building → queued, by the attempt itself. */
  giveBack(claimed: Release): Promise<void>
  /** building → queued, of an attempt that gives no sign of life; undefined when it has given one since. */
  requeue(seen: Release): Promise<Release | undefined>
  find(releaseId: string): Promise<Release | undefined>
  /** The releases that are being built, the oldest first, at most `limit`. */
  building(limit: number): Promise<readonly Release[]>
  /** The releases that wait, the oldest first. */
  queued(page: {
    readonly limit: number
    readonly offset: number
  }): Promise<readonly QueuedRelease[]>
  /** The release of a solution that has waited longest. */
  nextQueued(solutionId: string): Promise<BuildTicket | undefined>
  /** The package of a release in base64; null before it is built. */
  file(releaseId: string): Promise<string | null>
  keepSnapshot(releaseId: string, files: string): Promise<void>
}

const { releases, packages, snapshots, turns } = deploymentCollections
const writing = { mode: 'write', brief: true } as const

/** Opens the releases in a storage. */
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
        if (serial && !(await takeTurn(transaction, release.solutionId))) return false
        await transaction.insert(releases, { ...release })
        return true
      }),
    addQueued: (release, most) =>
      storage.transaction(writing, async (transaction) => {
        if ((await countQueued(transaction)) >= most) return false
        await transaction.insert(releases, { ...release })
        return true
      }),
    countQueued: () => countQueued(storage),
    claim: (release, serial) =>
      storage.transaction(writing, async (transaction) => {
        if (serial && !(await takeTurn(transaction, release.solutionId))) return undefined
        const attempt = release.attempt + 1
        const conditions = [equal('status', 'queued'), ...ofAttempt(release)]
        return changed(transaction, conditions, { status: 'building', attempt, beat: 0 })
      }),
    beat: async (claimed, beat) => (await change(inProgress(claimed), { beat })) !== undefined,
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
    requeue: (seen) =>
      change([...inProgress(seen), equal('beat', seen.beat)], {
        status: 'queued',
        lost: seen.lost + 1,
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
        // Not the notes and the log: up to 100,000 characters each.
        select: ['releaseId', 'solutionId', 'attempt', 'beat'],
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
    keepSnapshot: (releaseId, files) =>
      storage.transaction(writing, async (transaction) => {
        // An attempt before this one may have kept one.
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
 * Whether a solution of which one release is built at a time may build now. Two who ask at once write
 * the same row, so that storage lets only one of them commit.
 */
async function takeTurn(transaction: StorageTransaction, solutionId: string): Promise<boolean> {
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
