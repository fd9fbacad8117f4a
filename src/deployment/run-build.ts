import { isStorageError } from '../storage/adapter.ts'
import { BuildError } from './builders/build-error.ts'
import type { BuildEvent } from './build-event.ts'
import { buildLog } from './build-log.ts'
import type { Builder, PackageFile } from './builder.ts'
import type { Release } from './release.ts'
import type { BuildEnd, ReleaseStore } from './release-store.ts'
import type { Solution } from './solution.ts'
import { storedPackage } from './stored-package.ts'

/** What builds are made with. */
export interface BuildParts {
  readonly store: ReleaseStore
  readonly solutions: ReadonlyMap<string, Solution>
  readonly builder: Builder
  /** Takes the snapshot of a solution, and keeps it with the release. */
  readonly takeSnapshot: (release: Release, solution: Solution) => Promise<readonly PackageFile[]>
  /** Milliseconds without a sign of life after which a build is taken for lost. */
  readonly lease: number
  /** Milliseconds that one build may take. */
  readonly buildTimeout: number
  /** The largest package, in bytes. */
  readonly packageLimit: number
  readonly now: () => Date
  readonly tell: (news: BuildEvent) => void
}

/** Why a build was told to stop. */
type Stop = 'time' | 'lost' | 'closing'

/**
 * Builds a release that was claimed, and writes down how it ended. Undefined when it ended otherwise: the
 * claim was lost to another worker, or the build was given back because `closing` was aborted.
 */
export async function runBuild(
  parts: BuildParts,
  claimed: Release,
  closing: AbortSignal,
): Promise<Release | undefined> {
  const { store, tell } = parts
  const control = new AbortController()
  const stop = (why: Stop): void => {
    control.abort(why)
  }
  const onClosing = (): void => {
    stop('closing')
  }
  if (closing.aborted) stop('closing')
  closing.addEventListener('abort', onClosing, { once: true })
  const timer = setTimeout(stop, parts.buildTimeout, 'time')
  const heart = keepAlive(parts, claimed, stop)
  const log = buildLog(claimed, tell)
  const end = (): BuildEnd => ({ built: parts.now().toISOString(), log: log.text() })
  try {
    const built = await beforeAbort(build(parts, claimed, { log, signal: control.signal }), control)
    return await persistently(control.signal, () => store.finish(claimed, built, end()))
  } catch (error) {
    const why = control.signal.aborted ? (control.signal.reason as Stop) : undefined
    if (why === 'lost') return undefined
    if (why === 'closing') {
      await store.giveBack(claimed)
      return undefined
    }
    const cause = why === 'time' ? new BuildError(tooLong(parts.buildTimeout)) : error
    tell({ type: 'failed', releaseId: claimed.releaseId, error: cause })
    return await persistently(closing, () => store.fail(claimed, publicReason(cause), end()))
  } finally {
    clearTimeout(timer)
    heart.stop()
    closing.removeEventListener('abort', onClosing)
  }
}

async function build(
  { solutions, builder, takeSnapshot, packageLimit }: BuildParts,
  release: Release,
  { log, signal }: { readonly log: ReturnType<typeof buildLog>; readonly signal: AbortSignal },
) {
  const solution = solutions.get(release.solutionId)
  if (solution === undefined) throw new BuildError('There is no such solution any more.')
  const snapshot = release.snapshot ? await takeSnapshot(release, solution) : null
  const { releaseId, version, releaseNotes, releaseDate, attempt } = release
  const { progress, line } = log
  const job = { releaseId, solution, version, releaseNotes, releaseDate, attempt, snapshot }
  const built: unknown = await builder.build({ ...job, progress, log: line }, signal)
  return storedPackage(built, packageLimit)
}

/** Tells three times a lease that the build is alive. */
function keepAlive(
  { store, lease }: BuildParts,
  claimed: Release,
  stop: (why: Stop) => void,
): { stop(): void } {
  let beats = 0
  const beat = async (): Promise<void> => {
    try {
      if (!(await store.beat(claimed, ++beats))) stop('lost')
    } catch {
      // Storage may come back before the lease has ended; if not, the build is taken for lost.
    }
  }
  const timer = setInterval(() => void beat(), lease / 3)
  return {
    stop: () => {
      clearInterval(timer)
    },
  }
}

/** The result of work, unless it is told to stop before. What it does afterwards is nobody's. */
function beforeAbort<Result>(work: Promise<Result>, { signal }: AbortController): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(new Error('The build was told to stop.'))
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject)
  })
}

/** Does what has to be written down, as long as storage can't be reached and nobody says stop. */
async function persistently<Result>(
  stop: AbortSignal,
  write: () => Promise<Result>,
): Promise<Result> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
    try {
      return await write()
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'unavailable' || stop.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

// What else a builder throws is for the host.
function publicReason(error: unknown): string {
  return error instanceof BuildError && error.message !== ''
    ? error.message
    : 'The builder has failed.'
}

function tooLong(milliseconds: number): string {
  return `The build took longer than ${Math.ceil(milliseconds / 1000)} seconds.`
}
