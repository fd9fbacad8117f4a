import { inTime } from '../maybe-promise.ts'
import { runtime } from '../runtime.ts'
import { retryWhileUnavailable } from '../work/back-off.ts'
import { BuildError } from './builders/build-error.ts'
import type { BuildEvent } from './build-event.ts'
import type { Builder, PackageFile } from './builder.ts'
import type { Release } from './release.ts'
import type { BuildEnd, ReleaseStore } from './release-store.ts'
import type { Solution } from './solution.ts'
import { storedPackage } from './stored-package.ts'

/** What a build uses. */
export interface BuildDependencies {
  readonly store: ReleaseStore
  readonly solutions: ReadonlyMap<string, Solution>
  readonly builder: Builder
  /** Takes the snapshot of a solution and stores it with the release. Undefined if the claim is lost. */
  readonly takeSnapshot: (
    release: Release,
    solution: Solution,
  ) => Promise<readonly PackageFile[] | undefined>
  /** Milliseconds without a heartbeat after which a build is lost. */
  readonly lease: number
  /** Milliseconds that one build may take. */
  readonly buildTimeout: number
  /** The maximum size of a package, in bytes. */
  readonly packageLimit: number
  readonly now: () => Date
  readonly emit: (event: BuildEvent) => void
}

/** Why a build is stopped. */
type StopReason = 'timeout' | 'lost' | 'closing'

/**
 * Builds a claimed release and stores the result, built or failed. Resolves to undefined if another
 * worker has claimed the release, or if the build was requeued because `closing` was aborted.
 */
export async function runBuild(
  dependencies: BuildDependencies,
  claimed: Release,
  closing: AbortSignal,
): Promise<Release | undefined> {
  const { store, emit, buildTimeout, now } = dependencies
  const control = new AbortController()
  const stop = (reason: StopReason): void => {
    control.abort(reason)
  }
  const onClosing = (): void => {
    stop('closing')
  }
  if (closing.aborted) stop('closing')
  closing.addEventListener('abort', onClosing, { once: true })
  const timer = runtime.setTimeout(() => stop('timeout'), buildTimeout)
  const heartbeats = sendHeartbeats(dependencies, claimed, stop)
  const log = buildLog(claimed, emit)
  const end = (): BuildEnd => ({ built: now().toISOString(), log: log.text() })
  const work = buildPackage(dependencies, claimed, { log, signal: control.signal })
  try {
    const built = await untilAborted(work, control)
    return await retryWhileUnavailable(control.signal, () => store.finish(claimed, built, end()))
  } catch (error) {
    const reason = control.signal.aborted ? (control.signal.reason as StopReason) : undefined
    if (reason === 'lost') return undefined
    if (reason === 'closing') {
      // Another worker must not build while this builder runs, and the process may end after this.
      await ended(work)
      await store.giveBack(claimed)
      return undefined
    }
    const cause = reason === 'timeout' ? timeoutError(buildTimeout) : error
    emit({ type: 'failed', releaseId: claimed.releaseId, error: cause })
    return await retryWhileUnavailable(closing, () =>
      store.fail(claimed, publicReason(cause), end()),
    )
  } finally {
    runtime.clearTimeout(timer)
    heartbeats.stop()
    closing.removeEventListener('abort', onClosing)
  }
}

async function buildPackage(
  { solutions, builder, takeSnapshot, packageLimit }: BuildDependencies,
  release: Release,
  { log, signal }: { readonly log: BuildLog; readonly signal: AbortSignal },
) {
  const solution = solutions.get(release.solutionId)
  if (solution === undefined) throw new BuildError('The solution no longer exists.')
  const snapshot = release.snapshot ? await takeSnapshot(release, solution) : null
  // No caller waits for the result.
  if (snapshot === undefined || signal.aborted) throw new Error('The build was stopped.')
  const { releaseId, version, releaseNotes, releaseDate, attempt } = release
  const { progress, line } = log
  const job = { releaseId, solution, version, releaseNotes, releaseDate, attempt, snapshot }
  const built: unknown = await builder.build({ ...job, progress, log: line }, signal)
  return storedPackage(built, packageLimit)
}

/** The log of a build in progress. */
interface BuildLog {
  progress(fraction: number): void
  line(text: string): void
  /** Returns the last lines, at most 64 KiB; null if there are none. */
  text(): string | null
}

const maxLogLength = 64 * 1024
const maxLineLength = 2_000

/** Creates the log of a build. Progress and lines are also emitted as events. */
function buildLog({ releaseId }: Release, emit: (event: BuildEvent) => void): BuildLog {
  let lines: string[] = []
  let length = 0
  return {
    progress: (fraction) => {
      if (fraction >= 0 && fraction <= 1) emit({ type: 'progress', releaseId, fraction })
    },
    line: (text) => {
      const line = storable(text)
      emit({ type: 'line', releaseId, line })
      lines.push(line)
      length += line.length + 1
      if (length > 2 * maxLogLength) {
        lines = [lines.join('\n').slice(-maxLogLength)]
        length = maxLogLength
      }
    },
    text: () => (lines.length === 0 ? null : lines.join('\n').slice(-maxLogLength).toWellFormed()),
  }
}

/** Stores three heartbeats per lease. */
function sendHeartbeats(
  { store, lease }: BuildDependencies,
  claimed: Release,
  stop: (reason: StopReason) => void,
): { stop(): void } {
  let count = 0
  const send = async (): Promise<void> => {
    try {
      if (!(await store.heartbeat(claimed, ++count))) stop('lost')
    } catch {
      // If storage stays unreachable for the whole lease, the build is lost.
    }
  }
  const timer = runtime.setInterval(() => void send(), lease / 3)
  return {
    stop: () => {
      runtime.clearInterval(timer)
    },
  }
}

/** Resolves with the result of `work`, or rejects once aborted. A later result is ignored. */
function untilAborted<Result>(work: Promise<Result>, { signal }: AbortController): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('The build was stopped.'))
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject)
  })
}

// A program that does not end by itself is killed after two seconds.
const endMilliseconds = 5_000

/** Resolves when work has succeeded or failed, or has not ended in time. */
async function ended(work: Promise<unknown>): Promise<void> {
  await inTime(work, endMilliseconds, (reject) => {
    reject(new Error('The builder has not ended.'))
  }).catch(() => undefined)
}

// Other errors of a builder are for your application only.
function publicReason(error: unknown): string {
  const reason = error instanceof BuildError ? storable(error.message) : ''
  return reason === '' ? 'The builder has failed.' : reason
}

/** Returns a string without the characters that storage may not accept, of at most 2,000 characters. */
function storable(text: string): string {
  return text.slice(0, maxLineLength).toWellFormed().replaceAll('\0', '')
}

function timeoutError(milliseconds: number): BuildError {
  const seconds = Math.ceil(milliseconds / 1000)
  return new BuildError(`The build took longer than ${seconds} seconds.`)
}
