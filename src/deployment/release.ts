import type { Row } from '../request/query.ts'

/** The state of a release. */
export type ReleaseStatus = 'queued' | 'building' | 'built' | 'failed'

/** A stored release: the published record, and the state of its build. */
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
  /** The time at which the build ended, as an instant. */
  readonly built: string | null
  /** The reason of the failure, for clients. */
  readonly error: string | null
  /** The last lines of the build log. */
  readonly log: string | null
  /** The number of claims. */
  readonly attempt: number
  /** The number of heartbeats of the attempt. */
  readonly heartbeat: number
  /** The number of workers that died during the build. */
  readonly lost: number
}

/** Returns a row of the releases collection as a typed release. */
export function releaseOf(row: Row): Release {
  return row as unknown as Release
}
