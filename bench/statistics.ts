import type { Round } from './load.ts'
import type { Entry } from './measure.ts'

/** Returns the middle of some values; the mean of the two middle ones if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2
}

/** Returns the value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

/** Returns a figure of each round. */
export function valuesOf({ rounds }: Entry, name: keyof Round): number[] {
  return rounds.map((round) => round[name])
}

/**
 * Returns the ratio of a figure of two servers in each round. The median is steadier than the ratio of two medians,
 * because a machine that becomes slower for a while slows down both servers of a round.
 */
export function ratiosOf(first: Entry, second: Entry, name: keyof Round): number[] {
  const divisors = valuesOf(second, name)
  return valuesOf(first, name).map((value, round) => value / (divisors[round] ?? NaN))
}

/** Returns half the distance of the smallest and the largest value, by their median. */
export function spread(values: readonly number[]): string {
  const half = (Math.max(...values) - Math.min(...values)) / 2
  return `±${((100 * half) / median(values)).toFixed(1)} %`
}
