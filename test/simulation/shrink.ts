import { runWorld, type World, type WorldOptions } from './world.ts'

interface Failed {
  readonly world: World
  readonly failure: Error
}

/** A failure with few events. */
export interface Smallest extends Failed {
  readonly steps: number
}

const maxSeconds = 60

/**
 * Looks for the shortest run that breaks the same promise: fewer events, and fewer of the faults and actions that were
 * chosen. Takes at most a minute.
 */
export async function shrink(options: WorldOptions, found: Failed): Promise<Smallest> {
  const end = performance.now() + maxSeconds * 1_000
  let best: Smallest = { ...found, steps: options.steps }
  const attempt = async (
    steps: number,
    only: ReadonlySet<string> | undefined,
  ): Promise<boolean> => {
    if (performance.now() > end) return false
    const { world, failure } = await runWorld({ ...options, steps, ...(only && { only }) })
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
      if (at >= names.length || performance.now() > end) break
      const fewer = new Set([...names.slice(0, at), ...names.slice(at + size)])
      if (!(await attempt(best.steps, fewer))) at += size
    }
  }
  return best
}
