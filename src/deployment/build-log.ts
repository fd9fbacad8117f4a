import type { BuildEvent } from './build-event.ts'
import type { Release } from './release.ts'

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
export function buildLog({ releaseId }: Release, tell: (news: BuildEvent) => void): BuildLog {
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
