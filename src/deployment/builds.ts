import { setMaxListeners } from 'node:events'
import { ServiceError, unavailable } from '../errors.ts'
import { inTime } from '../maybe-promise.ts'
import type { BuildEvent } from './build-event.ts'
import type { BuildSlots } from './build-slots.ts'
import type { BuildQueue } from './queue.ts'
import type { PublishedRelease } from './published-releases.ts'
import type { Release } from './release.ts'
import type { OpenLimit } from './open-limit.ts'
import type { ReleaseStore } from './release-store.ts'

/** What accepting builds uses. */
export interface BuildsDependencies {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Builds a claimed release. Resolves to undefined if the build was requeued or its claim was lost. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<Release | undefined>
  readonly serial: boolean
  /** How many builds may wait: queued ones and those of requests together. */
  readonly queueLimit: number
  /** How many releases of one solution may be open. */
  readonly maxOpenReleases: number
  readonly slots: BuildSlots
  /** Milliseconds that a request waits for its build. */
  readonly waitTimeout: number
  readonly emit: (event: BuildEvent) => void
}

/** The release to build. */
export type BuildRequest = Pick<
  Release,
  'releaseId' | 'solutionId' | 'name' | 'version' | 'releaseNotes' | 'releaseDate' | 'snapshot'
>

/** The two ways to start a build: queued, or within a request. */
export interface Builds {
  /**
   * Queues a build. Throws TOO_MANY_REQUESTS if too many builds wait, and an OpenReleasesError if the solution has too
   * many open releases.
   */
  enqueue(request: BuildRequest): Promise<Release>
  /**
   * Builds as soon as a slot is free, and resolves when the build has ended, built or failed. Throws
   * the same errors as `enqueue`, and UNAVAILABLE after `waitTimeout`. A build that has started continues.
   */
  buildNow(request: BuildRequest): Promise<PublishedRelease>
  /** Stops the builds of requests and queues them again. */
  close(): Promise<void>
}

const lockPollInterval = 100

/** Creates both ways to start a build. */
export function openBuilds(dependencies: BuildsDependencies): Builds {
  const { store, queue, build, serial, slots, queueLimit, waitTimeout, emit } = dependencies
  const { maxOpenReleases } = dependencies
  const closing = new AbortController()
  // Each build in progress adds a listener.
  setMaxListeners(0, closing.signal)
  const running = new Set<Promise<unknown>>()

  // The number of requests that wait for a slot, or for another build of their solution.
  let waiting = 0
  // The requests of each solution whose releases are not stored yet.
  const unstored = new Map<string, number>()
  const countUnstored = (solutionId: string, change: number): void => {
    unstored.set(solutionId, (unstored.get(solutionId) ?? 0) + change)
  }
  const openLimit = (solutionId: string): OpenLimit => ({
    max: maxOpenReleases,
    waiting: () => unstored.get(solutionId) ?? 0,
  })

  /** Counts a request as waiting. Throws TOO_MANY_REQUESTS if too many builds wait already. */
  async function wait(): Promise<void> {
    if (waiting >= queueLimit) throw tooMany()
    const place = ++waiting
    try {
      if ((await store.countQueued()) + place > queueLimit) throw tooMany()
    } catch (error) {
      waiting -= 1
      throw error
    }
  }

  /** Waits for a slot and claims the release. Returns a function that frees the slot. */
  async function claimInSlot(release: Release, signal: AbortSignal): Promise<() => void> {
    let isWaiting = false
    try {
      for (;;) {
        let free = slots.takeNow()
        if (free === undefined) {
          if (!isWaiting) await wait()
          isWaiting = true
          free = await slots.take(signal)
        }
        if (free === undefined) throw stillBuilding()
        const isClaimed = await store.add(release, serial).catch((error: unknown) => {
          free()
          throw error
        })
        if (isClaimed) return free
        // Another build of the solution runs. Other solutions may use the slot meanwhile.
        free()
        if (!isWaiting) await wait()
        isWaiting = true
        if (signal.aborted) throw stillBuilding()
        await new Promise((resolve) => setTimeout(resolve, lockPollInterval))
      }
    } finally {
      if (isWaiting) waiting -= 1
    }
  }

  /** Calls `work` with a signal that is aborted after a time, or when the service closes. */
  async function withTimeout<Result>(
    milliseconds: number,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const control = new AbortController()
    const abort = (): void => {
      control.abort()
    }
    if (closing.signal.aborted) abort()
    closing.signal.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(abort, milliseconds)
    try {
      return await work(control.signal)
    } finally {
      clearTimeout(timer)
      closing.signal.removeEventListener('abort', abort)
    }
  }

  async function buildInSlot(release: Release, free: () => void): Promise<PublishedRelease> {
    const done = await build(release, closing.signal).finally(free)
    const { releaseId } = release
    if (serial) await announceNext(release)
    const now = done ?? (await store.find(releaseId))
    if (now?.status !== 'built' && now?.status !== 'failed') throw stillBuilding()
    const file = now.status === 'built' ? await store.file(releaseId) : null
    return { ...now, file }
  }

  return {
    enqueue: async (request) => {
      const release = newRelease(request, { status: 'queued', attempt: 0 })
      const open = openLimit(release.solutionId)
      if (!(await store.addQueued(release, queueLimit - waiting, open))) throw tooMany()
      await announce(release.releaseId)
      return release
    },
    buildNow: async (request) => {
      const release = newRelease(request, { status: 'building', attempt: 1 })
      const deadline = performance.now() + waitTimeout
      const { solutionId } = release
      await store.reserve(solutionId, openLimit(solutionId), () => {
        countUnstored(solutionId, 1)
      })
      const free = await withTimeout(waitTimeout, (signal) => claimInSlot(release, signal)).finally(
        () => {
          countUnstored(solutionId, -1)
        },
      )
      const work = buildInSlot(release, free)
      running.add(work)
      work.catch(() => undefined).finally(() => running.delete(work))
      return inTime(work, deadline - performance.now(), (reject) => {
        reject(stillBuilding())
      })
    },
    close: async () => {
      closing.abort()
      await Promise.allSettled(running)
    },
  }

  // A worker may have skipped the next release because the solution was building.
  async function announceNext({ solutionId }: Release): Promise<void> {
    const next = await store.nextQueued(solutionId).catch(() => undefined)
    if (next !== undefined) await announce(next.releaseId)
  }

  // The row is stored. If the queue fails here, workers find the row at their next poll.
  async function announce(releaseId: string): Promise<void> {
    try {
      await queue.announce({ releaseId })
    } catch (error) {
      emit({ type: 'unannounced', releaseId, error })
    }
  }
}

function newRelease(
  { releaseId, solutionId, name, version, releaseNotes, releaseDate, snapshot }: BuildRequest,
  start: Pick<Release, 'status' | 'attempt'>,
): Release {
  const facts = { releaseId, solutionId, name, version, releaseNotes, releaseDate, snapshot }
  const blank = { fileName: null, built: null, error: null, log: null, heartbeat: 0, lost: 0 }
  return { ...facts, ...blank, ...start }
}

function stillBuilding(): ServiceError {
  return unavailable(new Error('The build continues after the response to its request.'))
}

function tooMany(): ServiceError {
  return new ServiceError('TOO_MANY_REQUESTS', 'Too many builds are waiting.', {
    headers: { 'Retry-After': '10' },
  })
}
