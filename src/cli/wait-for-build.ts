import { setTimeout as pause } from 'node:timers/promises'
import type { ReleaseClient } from '../client/release-client.ts'
import type { QueuedRelease } from '../client/release-client.ts'
import { RequestError } from '../client/send-request.ts'
import type { Progress } from './progress.ts'
import { CommandError } from './command-error.ts'

/** How long a command waits for a build. */
export interface WaitOptions {
  /** The maximum time to wait, in milliseconds. */
  readonly timeout: number
  readonly stopping: AbortSignal
  readonly progress: Progress
}

const minPauseMilliseconds = 250
const maxPauseMilliseconds = 5_000
// A service is unavailable while it restarts.
const maxFailures = 8

/**
 * Waits until a build has ended, built or failed. Throws a RequestError if that takes too long or the
 * service is unavailable for too long, and a CommandError if interrupted. The build continues in any case.
 */
export async function waitForBuild(
  client: ReleaseClient,
  release: QueuedRelease,
  { timeout, stopping, progress }: WaitOptions,
): Promise<QueuedRelease> {
  const { releaseId } = release
  const until = performance.now() + timeout
  let [last, failures, wait] = [release, 0, minPauseMilliseconds]
  try {
    for (;;) {
      progress.show(failures === 0 ? last.status : `${last.status}, retrying`)
      if (last.status === 'built' || last.status === 'failed') return last
      const left = until - performance.now()
      if (left <= 0) {
        const seconds = Math.round(timeout / 1000)
        throw new RequestError(
          'unavailable',
          `The build has not ended after ${seconds} seconds. It continues: release ${releaseId}.`,
        )
      }
      await pause(Math.min(wait, left), undefined, { signal: stopping })
      wait = Math.min(wait * 1.5, maxPauseMilliseconds)
      try {
        last = await client.state(releaseId)
        failures = 0
      } catch (error) {
        if (!isTemporary(error) || ++failures === maxFailures) throw error
      }
    }
  } catch (error) {
    if (stopping.aborted)
      throw new CommandError(`Stopped waiting. The build continues: release ${releaseId}.`)
    throw error
  } finally {
    progress.end()
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof RequestError && (error.kind === 'unavailable' || error.status === 429)
}
