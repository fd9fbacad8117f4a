/** Counts work in progress, so that closing can wait for its end. */
export interface WorkInProgress {
  /** Does work that closing waits for. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Settles once nothing is in progress. */
  settled(): Promise<void>
}

/** Starts counting. */
export function workInProgress(): WorkInProgress {
  let count = 0
  const waiting: (() => void)[] = []
  return {
    run: async (work) => {
      count++
      try {
        return await work()
      } finally {
        count--
        if (count === 0) for (const resolve of waiting.splice(0)) resolve()
      }
    },
    settled: async () => {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
