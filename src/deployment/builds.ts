import { setMaxListeners } from 'node:events'
import { continues, ServiceError, unavailable } from '../errors.ts'
import { inTime } from '../maybe-promise.ts'
import { pause, runtime } from '../runtime.ts'
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
  /** How many builds may wait, in the queue and in requests together. */
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

const lockPollInterval = 100

/** The two ways to start a build: queued, or within a request. */
export class Builds {
  readonly #dependencies: BuildsDependencies
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  // The number of requests that wait for a slot, or for another build of their solution.
  #waiting = 0
  // The requests of each solution whose releases are not stored yet.
  readonly #unstored = new Map<string, number>()

  constructor(dependencies: BuildsDependencies) {
    this.#dependencies = dependencies
    // Each build in progress adds a listener.
    setMaxListeners(0, this.#closing.signal)
  }

  /**
   * Queues a build. Throws TOO_MANY_REQUESTS if too many builds wait, and an OpenReleasesError if the solution has too
   * many open releases.
   */
  async enqueue(request: BuildRequest): Promise<Release> {
    const { store, queueLimit } = this.#dependencies
    const release = newRelease(request, { status: 'queued', attempt: 0 })
    const open = this.#openLimit(release.solutionId)
    if (!(await store.addQueued(release, queueLimit - this.#waiting, open))) throw tooMany()
    await this.#announce(release.releaseId)
    return release
  }

  /**
   * Builds as soon as a slot is free, and resolves when the build has ended, built or failed. Throws
   * the same errors as `enqueue`, and UNAVAILABLE after `waitTimeout`. A build that has started continues.
   */
  async buildNow(request: BuildRequest): Promise<PublishedRelease> {
    const { store, waitTimeout } = this.#dependencies
    const release = newRelease(request, { status: 'building', attempt: 1 })
    const deadline = runtime.performanceNow() + waitTimeout
    const { solutionId } = release
    await store.reserve(solutionId, this.#openLimit(solutionId), () => {
      this.#countUnstored(solutionId, 1)
    })
    const free = await this.#withTimeout(waitTimeout, (signal) =>
      this.#claimInSlot(release, signal),
    ).finally(() => {
      this.#countUnstored(solutionId, -1)
    })
    const work = this.#buildInSlot(release, free)
    this.#running.add(work)
    work.catch(() => undefined).finally(() => this.#running.delete(work))
    return inTime(work, deadline - runtime.performanceNow(), (reject) => {
      reject(stillBuilding())
    })
  }

  /** Stops the builds of requests and queues them again. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#running)
  }

  #countUnstored(solutionId: string, change: number): void {
    this.#unstored.set(solutionId, (this.#unstored.get(solutionId) ?? 0) + change)
  }

  #openLimit(solutionId: string): OpenLimit {
    return {
      max: this.#dependencies.maxOpenReleases,
      waiting: () => this.#unstored.get(solutionId) ?? 0,
    }
  }

  /** Counts a request as waiting. Throws TOO_MANY_REQUESTS if too many builds wait already. */
  async #wait(): Promise<void> {
    const { store, queueLimit } = this.#dependencies
    if (this.#waiting >= queueLimit) throw tooMany()
    const place = ++this.#waiting
    try {
      if ((await store.countQueued()) + place > queueLimit) throw tooMany()
    } catch (error) {
      this.#waiting -= 1
      throw error
    }
  }

  /** Waits for a slot and claims the release. Returns a function that frees the slot. */
  async #claimInSlot(release: Release, signal: AbortSignal): Promise<() => void> {
    const { store, slots, serial } = this.#dependencies
    let isWaiting = false
    try {
      for (;;) {
        let free = slots.takeNow()
        if (free === undefined) {
          if (!isWaiting) await this.#wait()
          isWaiting = true
          free = await slots.take(signal)
        }
        if (free === undefined) throw notBegun()
        const isClaimed = await store.add(release, serial).catch((error: unknown) => {
          free()
          throw error
        })
        if (isClaimed) return free
        // Another build of the solution runs. Other solutions may use the slot meanwhile.
        free()
        if (!isWaiting) await this.#wait()
        isWaiting = true
        if (signal.aborted) throw notBegun()
        await pause(lockPollInterval)
      }
    } finally {
      if (isWaiting) this.#waiting -= 1
    }
  }

  /** Calls `work` with a signal that is aborted after a time, or when the service closes. */
  async #withTimeout<Result>(
    milliseconds: number,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { signal: closing } = this.#closing
    const control = new AbortController()
    const abort = (): void => {
      control.abort()
    }
    if (closing.aborted) abort()
    closing.addEventListener('abort', abort, { once: true })
    const timer = runtime.setTimeout(abort, milliseconds)
    try {
      return await work(control.signal)
    } finally {
      runtime.clearTimeout(timer)
      closing.removeEventListener('abort', abort)
    }
  }

  async #buildInSlot(release: Release, free: () => void): Promise<PublishedRelease> {
    const { store, build, serial } = this.#dependencies
    const done = await build(release, this.#closing.signal).finally(free)
    const { releaseId } = release
    if (serial) await this.#announceNext(release)
    const now = done ?? (await store.find(releaseId))
    if (now?.status !== 'built' && now?.status !== 'failed') throw stillBuilding()
    const file = now.status === 'built' ? await store.file(releaseId) : null
    return { ...now, file }
  }

  // A worker may have skipped the next release because the solution was building.
  async #announceNext({ solutionId }: Release): Promise<void> {
    const { store } = this.#dependencies
    const next = await store.nextQueued(solutionId).catch(() => undefined)
    if (next !== undefined) await this.#announce(next.releaseId)
  }

  // The row is stored. If the queue fails here, workers find the row at their next poll.
  async #announce(releaseId: string): Promise<void> {
    const { queue, emit } = this.#dependencies
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
  return unavailable(Object.assign(lateBuild(), { [continues]: true }))
}

/** Returns the error of a request whose build has not begun, so that the request may be executed again. */
function notBegun(): ServiceError {
  return unavailable(lateBuild())
}

function lateBuild(): Error {
  return new Error('The build continues after the response to its request.')
}

function tooMany(): ServiceError {
  return new ServiceError('TOO_MANY_REQUESTS', 'Too many builds are waiting.', {
    headers: { 'Retry-After': '10' },
  })
}
