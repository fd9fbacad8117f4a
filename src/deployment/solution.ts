import type { ApplicationDefinitions } from '../definition/application.ts'

/** What releases are built of: applications that are delivered together (section 1). */
export interface Solution {
  /** Names it in requests: letters, digits and `. _ ~ -`, at most 64. */
  readonly solutionId: string
  /** At most 200 characters. It is the name of its releases, too. */
  readonly name: string
  /** The version of a release that names none, at most 64 characters. */
  readonly version: string
  /** The notes of a release that brings none. Default: null. */
  readonly releaseNotes?: string | null
  /** The date of a release that names none, `YYYY-MM-DDThh:mm:ss`. Default: today at 00:00:00 (D51). */
  readonly releaseDate?: string
  readonly applications: ApplicationDefinitions
}
