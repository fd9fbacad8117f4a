import { runtime } from '../runtime.ts'

/** Work that is done again and again until it is stopped. */
export interface Repetition {
  /** Ends the repetition, and resolves when the work in progress has ended. */
  stop(): Promise<void>
}

/**
 * Does work at an interval in milliseconds, one run at a time. A failed run is only followed by the next
 * one: the work is such that a later run makes up for it. Does not keep the process alive.
 */
export function repeat(interval: number, work: () => Promise<void>): Repetition {
  let running: Promise<void> | undefined
  const timer = runtime.setInterval(() => {
    running ??= work()
      .catch(() => undefined)
      .finally(() => {
        running = undefined
      })
  }, interval)
  timer.unref()
  return {
    stop: async () => {
      runtime.clearInterval(timer)
      await running
    },
  }
}
