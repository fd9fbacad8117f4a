/** A clock that a test sets. */
export interface Clock {
  readonly now: () => Date
  set(instant: string): void
  /** Adds minutes; a negative number goes back. */
  pass(minutes: number): void
}

/** Creates a clock that shows an instant until it is set. */
export function clockAt(instant: string): Clock {
  let time = Date.parse(instant)
  return {
    now: () => new Date(time),
    set: (next) => void (time = Date.parse(next)),
    pass: (minutes) => void (time += minutes * 60_000),
  }
}
