/**
 * Returns the number of the next claim of a job. Numbers that another program has stored may be out of range: then it
 * is 1. Claims compare it with the previous one only for equality.
 */
export function nextAttempt(previous: number): number {
  const next = previous + 1
  return next > 0 && Number.isSafeInteger(next) ? next : 1
}

/** Returns a stored count; 0 for a value that is not one. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0
}
