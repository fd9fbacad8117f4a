import type { ApplicationDefinitions } from '../definition/application.ts'

/** Applications that are delivered together. Releases are built from a solution. */
export interface Solution {
  /** The identifier in requests: letters, digits and `. _ ~ -`, at most 64 characters. */
  readonly solutionId: string
  /** The name of the solution and of its releases, at most 200 characters. */
  readonly name: string
  /** The version of releases whose request has none, at most 64 characters. */
  readonly version: string
  /** The notes of releases whose request has none. Default: null. */
  readonly releaseNotes?: string | null
  /** The date of releases whose request has none, `YYYY-MM-DDThh:mm:ss`. Default: today at 00:00:00. */
  readonly releaseDate?: string
  readonly applications: ApplicationDefinitions
}
