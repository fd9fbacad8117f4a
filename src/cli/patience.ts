import { isStorageError } from '../storage/adapter.ts'
import { openProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** Repeats work while the database can't be written. */
export type Patience = <Result>(work: () => Promise<Result>) => Promise<Result>

const maxMilliseconds = 30_000
const pauseMilliseconds = 100

/**
 * Repeats work for up to 30 seconds while storage is unavailable: another process may be writing, and
 * then nothing was stored. The progress goes to the messages.
 */
export function patience(terminal: Terminal, milliseconds: number = maxMilliseconds): Patience {
  return async (work) => {
    const began = performance.now()
    let progress: ReturnType<typeof openProgress> | undefined
    try {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          const waited = performance.now() - began
          if (!isUnavailable(error) || waited >= milliseconds) throw error
          progress ??= openProgress(terminal)
          progress.tell(`Waiting for the database, for up to ${milliseconds / 1000} seconds ...`)
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds))
      }
    } finally {
      progress?.end()
    }
  }
}

/** The same methods; each call is repeated. */
export function patiently<Part extends object>(part: Part, repeat: Patience): Part {
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
