import type { Release, ReleaseStatus } from './release.ts'

/** What happens to builds, for the host: nothing of it reaches consumers. */
export type BuildNews =
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

/** The log of a build while it is written. */
export interface BuildLog {
  progress(fraction: number): void
  line(text: string): void
  /** The last lines, at most 64 KiB; null when there are none. */
  text(): string | null
}

const mostCharacters = 64 * 1024
const longestLine = 2_000

/** Opens the log of a build, and tells the host what is written into it. */
export function buildLog({ releaseId }: Release, tell: (news: BuildNews) => void): BuildLog {
  let lines: string[] = []
  let length = 0
  return {
    progress: (fraction) => {
      if (fraction >= 0 && fraction <= 1) tell({ type: 'progress', releaseId, fraction })
    },
    line: (text) => {
      const line = text.slice(0, longestLine).toWellFormed().replaceAll('\0', '')
      tell({ type: 'line', releaseId, line })
      lines.push(line)
      length += line.length + 1
      if (length > 2 * mostCharacters) {
        lines = [lines.join('\n').slice(-mostCharacters)]
        length = mostCharacters
      }
    },
    text: () =>
      lines.length === 0 ? null : lines.join('\n').slice(-mostCharacters).toWellFormed(),
  }
}
