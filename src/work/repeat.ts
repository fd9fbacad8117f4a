import { runtime, unref } from '../runtime.ts'

/** Work that is done again and again until it is stopped. */
export interface Repetition {
  /** Ends the repetition, and resolves when the work in progress has ended. */
  stop(): Promise<void>
}

/**
 * Does work at an interval in milliseconds, one run at a time. `startsNow`: the first run starts now, not after an interval.
 * A failed run is not repeated before the next interval: a later run makes up for it. Does not keep the process alive.
 */
export function repeat(
  interval: number,
  work: () => Promise<void>,
  { startsNow = false }: { readonly startsNow?: boolean } = {},
): Repetition {
  let running: Promise<void> | undefined
  const run = (): void => {
    running ??= work()
      .catch(() => undefined)
      .finally(() => {
        running = undefined
      })
  }
  const timer = runtime.setInterval(run, interval)
  unref(timer)
  if (startsNow) run()
  return {
    stop: async () => {
      runtime.clearInterval(timer)
      await running
    },
  }
}
