/** Limits how many builds of requests and workers run at a time in this process. */
export interface BuildSlots {
  /** Adds slots. The returned function removes them again. */
  add(count: number): () => void
  /** Takes a free slot. Returns undefined if there is none, or if others wait for it. */
  takeNow(): (() => void) | undefined
  /** Waits for a slot in order of the calls. Resolves to undefined if `signal` is aborted first. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>
}

/** Creates the slots. There is one slot until others are added. */
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
        const cancel = (): void => {
          waiting.delete(start)
          resolve(undefined)
        }
        const start = (): void => {
          signal.removeEventListener('abort', cancel)
          resolve(occupy())
        }
        signal.addEventListener('abort', cancel, { once: true })
        waiting.add(start)
        grant()
      }),
  }
}
