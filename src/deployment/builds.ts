import { setMaxListeners } from 'node:events'
import { ServiceError, unavailable } from '../errors.ts'
import type { Row } from '../request/query.ts'
import { inTime } from '../maybe-promise.ts'
import type { BuildEvent } from './build-event.ts'
import type { BuildSlots } from './build-slots.ts'
import type { BuildQueue } from './queue.ts'
import type { Release } from './release.ts'
import type { ReleaseStore } from './release-store.ts'

/** What accepts builds. */
export interface BuildsParts {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Builds a release that was claimed; undefined when it ended otherwise than here. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<Release | undefined>
  readonly serial: boolean
  /** Builds that may wait, queued ones and those of requests together. */
  readonly queueLimit: number
  readonly slots: BuildSlots
  /** Milliseconds that a request waits for its build. */
  readonly waitTimeout: number
  readonly tell: (news: BuildEvent) => void
}

/** The two ways to ask for a build (section 4.2). */
export interface Builds {
  /** Queues a build. Throws TOO_MANY_REQUESTS when too many wait. */
  enqueue(row: Row): Promise<Row>
  /**
   * Builds as soon as a slot is free, and resolves when that has ended, built or failed. Throws
   * TOO_MANY_REQUESTS when too many wait, and UNAVAILABLE when it takes longer than a request waits; a
   * build that has started goes on.
   */
  buildNow(row: Row): Promise<Row>
  /** Ends the builds that requests wait for: they are queued again. */
  close(): Promise<void>
}

const turnInterval = 100

/** Opens both ways. */
export function openBuilds(parts: BuildsParts): Builds {
  const { store, queue, build, serial, slots } = parts
  const closing = new AbortController()
  // Each build in progress listens.
  setMaxListeners(0, closing.signal)
  const running = new Set<Promise<unknown>>()

  // Requests that wait for a slot, or for the turn of their solution.
  let waiting = 0

  /** Counts a request as waiting. Throws TOO_MANY_REQUESTS when too many wait already. */
  async function wait(): Promise<void> {
    if (waiting >= parts.queueLimit) throw tooMany()
    const place = ++waiting
    try {
      if ((await store.countQueued()) + place > parts.queueLimit) throw tooMany()
    } catch (error) {
      waiting -= 1
      throw error
    }
  }

  /** Waits for a slot and claims the release. Returns what frees the slot. */
  async function begin(release: Release, signal: AbortSignal): Promise<() => void> {
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
        // While its turn has not come, others may build.
        free()
        if (!isWaiting) await wait()
        isWaiting = true
        if (signal.aborted) throw stillBuilding()
        await new Promise((resolve) => setTimeout(resolve, turnInterval))
      }
    } finally {
      if (isWaiting) waiting -= 1
    }
  }

  /** Calls work with a signal that is aborted when the time has passed or the service closes. */
  async function patiently<Result>(
    milliseconds: number,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const control = new AbortController()
    const leave = (): void => {
      control.abort()
    }
    if (closing.signal.aborted) leave()
    closing.signal.addEventListener('abort', leave, { once: true })
    const timer = setTimeout(leave, milliseconds)
    try {
      return await work(control.signal)
    } finally {
      clearTimeout(timer)
      closing.signal.removeEventListener('abort', leave)
    }
  }

  async function ended(release: Release, free: () => void): Promise<Row> {
    const done = await build(release, closing.signal).finally(free)
    const { releaseId } = release
    if (serial) await nextAnnounced(release)
    const now = done ?? (await store.find(releaseId))
    if (now?.status !== 'built' && now?.status !== 'failed') throw stillBuilding()
    const file = now.status === 'built' ? await store.file(releaseId) : null
    return { ...now, file }
  }

  return {
    enqueue: async (row) => {
      const release = newRelease(row, { status: 'queued', attempt: 0 })
      if (!(await store.addQueued(release, parts.queueLimit - waiting))) throw tooMany()
      await announced(release.releaseId)
      return row
    },
    buildNow: async (row) => {
      const release = newRelease(row, { status: 'building', attempt: 1 })
      const until = performance.now() + parts.waitTimeout
      const free = await patiently(parts.waitTimeout, (signal) => begin(release, signal))
      const work = ended(release, free)
      running.add(work)
      work.catch(() => undefined).finally(() => running.delete(work))
      return inTime(work, until - performance.now(), (reject) => {
        reject(stillBuilding())
      })
    },
    close: async () => {
      closing.abort()
      await Promise.allSettled(running)
    },
  }

  // A worker may have found the solution building.
  async function nextAnnounced({ solutionId }: Release): Promise<void> {
    const next = await store.nextQueued(solutionId).catch(() => undefined)
    if (next !== undefined) await announced(next.releaseId)
  }

  // The row is stored: a queue that can't be told now is asked by its workers later.
  async function announced(releaseId: string): Promise<void> {
    try {
      await queue.announce({ releaseId })
    } catch (error) {
      parts.tell({ type: 'unannounced', releaseId, error })
    }
  }
}

function newRelease(row: Row, start: Pick<Release, 'status' | 'attempt'>): Release {
  const { releaseId, solutionId, name, version, releaseNotes, releaseDate, snapshot } =
    row as unknown as Release
  const facts = { releaseId, solutionId, name, version, releaseNotes, releaseDate, snapshot }
  const blank = { fileName: null, built: null, error: null, log: null, beat: 0, lost: 0 }
  return { ...facts, ...blank, ...start }
}

function stillBuilding(): ServiceError {
  return unavailable(new Error('The build goes on after its request was answered.'))
}

function tooMany(): ServiceError {
  return new ServiceError('TOO_MANY_REQUESTS', 'Too many builds are waiting.', {
    headers: { 'Retry-After': '10' },
  })
}
