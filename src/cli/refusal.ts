/** Wrong usage of the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What can't be done, in one line for people: exit code 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
