/** The error of invalid usage of the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The error of a command that failed, with a message of one line: exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
