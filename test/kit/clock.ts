/** A clock that a test sets. */
export interface Clock {
  readonly now: () => Date
  set(instant: string): void
  /** Adds minutes; a negative number goes back. */
  pass(minutes: number): void
}

/** Creates a clock that shows an instant, by default noon of a leap day, until it is set. */
export function clockAt(instant = '2024-02-29T12:00:00Z'): Clock {
  let time = Date.parse(instant)
  return {
    now: () => new Date(time),
    set: (next) => void (time = Date.parse(next)),
    pass: (minutes) => void (time += minutes * 60_000),
  }
}
