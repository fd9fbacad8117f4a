import { runWorld, type World, type WorldOptions } from './world.ts'

interface Failed {
  readonly world: World
  readonly failure: Error
}

/** A failure with few events. */
export interface Smallest extends Failed {
  readonly steps: number
}

const maxSteps = 500_000

/**
 * Looks for the shortest run that breaks the same promise: fewer events, and fewer of the faults and actions that were
 * chosen. Runs at most 500,000 events.
 */
export async function shrink(options: WorldOptions, found: Failed): Promise<Smallest> {
  let left = maxSteps
  let best: Smallest = { ...found, steps: options.steps }
  const attempt = async (
    steps: number,
    only: ReadonlySet<string> | undefined,
  ): Promise<boolean> => {
    if (left < 0) return false
    const { world, failure } = await runWorld({ ...options, steps, ...(only && { only }) })
    left -= world.scheduler.steps
    if (failure?.message !== found.failure.message) return false
    best = { world, failure, steps }
    return true
  }
  // A promise that was broken at an event is broken there again; others are checked at the end.
  if (!(await attempt(Math.min(best.steps, found.world.scheduler.steps), options.only))) return best
  for (
    let steps = best.steps >> 1;
    steps > 200 && (await attempt(steps, options.only));
    steps >>= 1
  );
  for (let size = best.world.choices.taken.size >> 1; size >= 1; size >>= 1) {
    let at = 0
    for (;;) {
      const names = [...best.world.choices.taken.keys()]
      if (at >= names.length || left < 0) break
      const fewer = new Set([...names.slice(0, at), ...names.slice(at + size)])
      if (!(await attempt(best.steps, fewer))) at += size
    }
  }
  return best
}
