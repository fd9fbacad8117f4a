/** Limits how many builds run at a time in this process, for requests and workers together. */
export interface BuildSlots {
  /** Allows more builds at a time, until the returned function is called. */
  add(count: number): () => void
  /** Takes a slot that is free and that nothing waits for; undefined when there is none. */
  takeNow(): (() => void) | undefined
  /** Waits for a slot, first come first served. Undefined when `signal` is aborted before. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>
}

/** Opens the slots. One build at a time may run even if none were added. */
export function buildSlots(): BuildSlots {
  let added = 0
  let taken = 0
  const waiting = new Set<() => void>()

  function grant(): void {
    for (const start of waiting) {
      if (taken >= Math.max(1, added)) return
      waiting.delete(start)
      start()
    }
  }

  function occupy(): () => void {
    taken += 1
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      taken -= 1
      grant()
    }
  }

  return {
    add: (count) => {
      added += count
      grant()
      return () => {
        added -= count
      }
    },
    takeNow: () => (waiting.size === 0 && taken < Math.max(1, added) ? occupy() : undefined),
    take: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(undefined)
          return
        }
        const leave = (): void => {
          waiting.delete(start)
          resolve(undefined)
        }
        const start = (): void => {
          signal.removeEventListener('abort', leave)
          resolve(occupy())
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.add(start)
        grant()
      }),
  }
}
