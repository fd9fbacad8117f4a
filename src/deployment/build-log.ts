import type { BuildEvent } from './build-event.ts'
import type { Release } from './release.ts'

/** The log of a build in progress. */
export interface BuildLog {
  progress(fraction: number): void
  line(text: string): void
  /** Returns the last lines, at most 64 KiB; null if there are none. */
  text(): string | null
}

const maxLogLength = 64 * 1024
const maxLineLength = 2_000

/** Creates the log of a build. Progress and lines are also emitted as events. */
export function buildLog({ releaseId }: Release, emit: (event: BuildEvent) => void): BuildLog {
  let lines: string[] = []
  let length = 0
  return {
    progress: (fraction) => {
      if (fraction >= 0 && fraction <= 1) emit({ type: 'progress', releaseId, fraction })
    },
    line: (text) => {
      const line = text.slice(0, maxLineLength).toWellFormed().replaceAll('\0', '')
      emit({ type: 'line', releaseId, line })
      lines.push(line)
      length += line.length + 1
      if (length > 2 * maxLogLength) {
        lines = [lines.join('\n').slice(-maxLogLength)]
        length = maxLogLength
      }
    },
    text: () => (lines.length === 0 ? null : lines.join('\n').slice(-maxLogLength).toWellFormed()),
  }
}
