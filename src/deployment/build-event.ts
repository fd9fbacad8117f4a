import type { ReleaseStatus } from './release.ts'

/** What happens to builds. Events are for your application only: clients never receive them. */
export type BuildEvent =
  | { readonly type: 'started'; readonly releaseId: string; readonly attempt: number }
  /** `queued`: the build was returned to the queue, or another worker has claimed it. */
  | {
      readonly type: 'ended'
      readonly releaseId: string
      readonly attempt: number
      readonly status: ReleaseStatus
    }
  | { readonly type: 'progress'; readonly releaseId: string; readonly fraction: number }
  | { readonly type: 'line'; readonly releaseId: string; readonly line: string }
  | { readonly type: 'failed'; readonly releaseId: string; readonly error: unknown }
  /** Storage or the queue is unreachable. The operation is retried. */
  | { readonly type: 'unreachable'; readonly error: unknown }
  /** `announce` of the queue failed. Workers find the release at their next poll. */
  | { readonly type: 'unannounced'; readonly releaseId: string; readonly error: unknown }
  /**
   * The queue had a job without a release of this deployment, or storage has a release that can't be read: another
   * program has written it. It is not built. `releaseId` is null if it has none.
   */
  | { readonly type: 'discarded'; readonly releaseId: string | null; readonly error: Error }
  /** A worker sent no heartbeat. The build is queued again, or has failed after the last attempt. */
  | { readonly type: 'lost'; readonly releaseId: string; readonly attempt: number }
