import { PackageError } from '../package/package-error.ts'

/**
 * A build that failed for a reason which its consumer may know: the message names no place on the
 * machine and nothing of its environment. What the host needs besides stands in the build's log.
 */
export class BuildError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BuildError'
  }
}

/** Does work of a builder: what makes no package is a failed build, and its consumer may know why. */
export async function building<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof PackageError ? new BuildError(error.message, { cause: error }) : error
  }
}
