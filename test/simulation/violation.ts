/** A broken promise of the service. The message has no ids, so that the same one is found again with fewer steps. */
export class Violation extends Error {
  readonly details: unknown

  constructor(message: string, details?: unknown) {
    super(message)
    this.name = 'Violation'
    this.details = details
  }
}

/** Throws a violation unless something holds. */
export function promise(holds: boolean, message: string, details?: unknown): asserts holds {
  if (!holds) throw new Violation(message, details)
}
