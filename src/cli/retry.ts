import { isStorageError } from '../storage/adapter.ts'
import { openProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** Runs work, and repeats it while the database can't be written. */
export type Retry = <Result>(work: () => Promise<Result>) => Promise<Result>

const maxMilliseconds = 30_000
const pauseMilliseconds = 100

/**
 * Returns a function that repeats work for up to 30 seconds while storage is unavailable, for example
 * because another process is writing. Nothing is stored by failed work. The messages show the progress.
 */
export function createRetry(terminal: Terminal, milliseconds: number = maxMilliseconds): Retry {
  return async (work) => {
    const startedAt = performance.now()
    let progress: ReturnType<typeof openProgress> | undefined
    try {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          const waited = performance.now() - startedAt
          if (!isUnavailable(error) || waited >= milliseconds) throw error
          progress ??= openProgress(terminal)
          progress.show(`Waiting up to ${milliseconds / 1000} seconds for the database ...`)
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
      }
    } finally {
      progress?.end()
    }
  }
}

/** Returns an object with the same methods, whose calls are repeated. */
export function withRetries<Part extends object>(part: Part, repeat: Retry): Part {
  const methods = Object.entries(part).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === 'function'
      ? (...given: unknown[]) => repeat(async () => (member as Method)(...given))
      : member,
  ])
  return Object.freeze(Object.fromEntries(methods)) as Part
}

type Method = (...given: unknown[]) => unknown

function isUnavailable(error: unknown): boolean {
  return isStorageError(error) && error.kind === 'unavailable'
}
