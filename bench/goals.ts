import type { Entry } from './measure.ts'
import type { CostGoal, Goal, LatencyGoal, RatioGoal } from './scenario.ts'
import { median, ratiosOf, valuesOf } from './statistics.ts'

/** Returns the goals whose servers took part, with what was measured. */
export function goalLines(goals: readonly Goal[], entries: readonly Entry[]): string[] {
  return goals.flatMap((goal) => {
    const [own, of] = [named(entries, goal.own), named(entries, goal.of)]
    if (!own || (goal.of !== undefined && !of)) return []
    if ('microseconds' in goal) return [costLine(goal, own, of)]
    if ('factor' in goal) return of ? [latencyLine(goal, own, of)] : []
    return of ? [ratioLine(goal, own, of, named(entries, goal.floor))] : []
  })
}

function ratioLine(
  { own, of, ratio, floor }: RatioGoal,
  ownEntry: Entry,
  ofEntry: Entry,
  floorEntry: Entry | undefined,
): string {
  const reached = ratioOf(ofEntry, ownEntry)
  const goal = `${own} ${ratio.toFixed(2)} × ${of}`
  const line = `${mark(reached >= ratio)}: ${goal}. Measured: ${reached.toFixed(2)}.`
  if (floorEntry === undefined) return line
  const most = ratioOf(ofEntry, floorEntry)
  const isBeyond = Math.max(most, reached) < ratio ? ', so the goal is out of reach' : ''
  return `${line} The floor ${floor}: ${most.toFixed(2)}${isBeyond}.`
}

function costLine({ own, of, microseconds }: CostGoal, ownEntry: Entry, ofEntry?: Entry): string {
  const others = ofEntry ? valuesOf(ofEntry, 'cpuMicroseconds') : []
  const cost = median(
    valuesOf(ownEntry, 'cpuMicroseconds').map((own, round) => own - (others[round] ?? 0)),
  )
  const goal = `${own} at most ${microseconds} µs${of === undefined ? '' : ` more than ${of}`}`
  return `${mark(cost <= microseconds)}: ${goal}. Measured: ${cost.toFixed(1)} µs.`
}

function latencyLine(
  { own, of, percentile, factor }: LatencyGoal,
  ownEntry: Entry,
  ofEntry: Entry,
): string {
  const reached = median(ratiosOf(ownEntry, ofEntry, `p${percentile}Milliseconds`))
  const goal = `p${percentile} of ${own} at most ${factor.toFixed(2)} × that of ${of}`
  return `${mark(reached <= factor)}: ${goal}. Measured: ${reached.toFixed(2)}.`
}

/** Returns how the line of a goal begins. */
export function mark(isReached: boolean): string {
  return isReached ? 'Goal reached' : 'Goal missed'
}

function ratioOf(ofEntry: Entry, ownEntry: Entry): number {
  return median(ratiosOf(ofEntry, ownEntry, 'cpuMicroseconds'))
}

function named(entries: readonly Entry[], name: string | undefined): Entry | undefined {
  return entries.find(({ contestant }) => contestant.name === name)
}
