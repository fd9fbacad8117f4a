import { PackageError } from '../package/package-error.ts'

/**
 * The error of a failed build whose message is sent to clients. The message must not contain paths on
 * disk or details of the environment; write those to the log of the build.
 */
export class BuildError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BuildError'
  }
}

/** Calls `work` and converts a PackageError into a BuildError, whose message is sent to clients. */
export async function withBuildErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof PackageError ? new BuildError(error.message, { cause: error }) : error
  }
}
