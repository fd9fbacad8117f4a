import { keepLatest } from '../keep-latest.ts'

const maxKnown = 100

/**
 * Returns a function that passes on errors, but not one whose message was passed on before: for faults of stored
 * rows, which each poll finds again. It remembers 100 messages.
 */
export function reportOnce(report: (error: Error) => void): (error: Error) => void {
  const known = new Map<string, true>()
  return (error) => {
    const isKnown = known.has(error.message)
    keepLatest(known, error.message, true, maxKnown)
    if (!isKnown) report(error)
  }
}
