import { unavailable } from '../../errors.ts'

/** Runs work, some at once and some in a queue; see {@link boundedWork}. */
export type BoundedWork = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Bounds what is done at the same time: at most `concurrency` pieces of work run, at most `waiting` wait
 * for their turn in the order of arrival, and beyond that it rejects with UNAVAILABLE (D29).
 */
export function boundedWork(concurrency: number, waiting: number): BoundedWork {
  const queue: (() => void)[] = []
  let running = 0

  function leave(): void {
    const next = queue.shift()
    if (next === undefined) running--
    else next()
  }

  return async (work) => {
    if (running < concurrency) running++
    else if (queue.length < waiting) await new Promise<void>((admit) => queue.push(admit))
    else throw unavailable(new Error('Too much is waiting to be checked already.'))
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
