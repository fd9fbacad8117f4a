import type { ReleaseStatus } from './release.ts'

/** What happens to builds, for the host: nothing of it reaches consumers. */
export type BuildEvent =
  | { readonly type: 'started'; readonly releaseId: string; readonly attempt: number }
  /** `queued`: the build was given back, or its claim was lost to another worker. */
  | {
      readonly type: 'ended'
      readonly releaseId: string
      readonly attempt: number
      readonly status: ReleaseStatus
    }
  | { readonly type: 'progress'; readonly releaseId: string; readonly fraction: number }
  | { readonly type: 'line'; readonly releaseId: string; readonly line: string }
  | { readonly type: 'failed'; readonly releaseId: string; readonly error: unknown }
  /** Storage or the queue could not be reached; it is tried again. */
  | { readonly type: 'unreachable'; readonly error: unknown }
  /** A queue could not be told that a build waits; its workers find it when they look. */
  | { readonly type: 'unannounced'; readonly releaseId: string; readonly error: unknown }
  /** A worker gave no sign of life. The build is queued again, or failed when it was the last attempt. */
  | { readonly type: 'lost'; readonly releaseId: string; readonly attempt: number }
