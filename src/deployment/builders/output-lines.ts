import { stripVTControlCharacters } from 'node:util'

/** The most characters of a line in the log. */
export const longestLine = 1_000

/** Takes the output of a program apart into lines. */
export interface OutputLines {
  push(bytes: Uint8Array): void
  /** The last line, if it did not end with a line break. */
  end(): void
}

/**
 * Calls back for each line of UTF-8 output, without control characters and sequences of terminals, cut
 * at 1,000 characters. Never keeps more of a line than that. Empty lines are left out.
 */
export function outputLines(each: (line: string) => void): OutputLines {
  const decoder = new TextDecoder()
  let line = ''

  function add(text: string): void {
    // Sequences and control characters may take some room, too.
    if (line.length <= 2 * longestLine) line += text.slice(0, 2 * longestLine)
  }

  function finish(): void {
    const shown = stripVTControlCharacters(line).replace(
      /[\p{Cc}\u2028\u2029]|[\u202a-\u202e\u2066-\u2069]/gu,
      '',
    )
    line = ''
    if (shown === '') return
    each(shown.length > longestLine ? `${shown.slice(0, longestLine).toWellFormed()}…` : shown)
  }

  function split(text: string): void {
    const [first = '', ...others] = text.split(/\r\n|[\r\n]/)
    add(first)
    for (const next of others) {
      finish()
      add(next)
    }
  }

  return {
    push: (bytes) => split(decoder.decode(bytes, { stream: true })),
    end() {
      split(decoder.decode())
      finish()
    },
  }
}
