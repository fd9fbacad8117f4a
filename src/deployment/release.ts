import type { Row } from '../request/query.ts'
import type { releaseStates } from './collections.ts'

/** The state of a release (section 3). */
export type ReleaseStatus = (typeof releaseStates)[number]

/** A release as it is stored: the record of section 2.4, and what its build needs. */
export interface Release {
  readonly releaseId: string
  readonly solutionId: string
  readonly name: string
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  readonly status: ReleaseStatus
  readonly fileName: string | null
  readonly snapshot: boolean
  /** When the build ended. */
  readonly built: string | null
  /** Why it failed, for consumers. */
  readonly error: string | null
  /** The last lines of the build. */
  readonly log: string | null
  readonly attempt: number
  readonly beat: number
  /** How many workers have died over it. */
  readonly lost: number
}

/** A row of releases by the types of its fields. */
export function releaseOf(row: Row): Release {
  return row as unknown as Release
}
