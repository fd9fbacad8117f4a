import { stripVTControlCharacters } from 'node:util'

/** The maximum number of characters of a line in the log. */
export const maxLineLength = 1_000

/** Splits the output of a program into lines. */
export interface OutputLines {
  push(bytes: Uint8Array): void
  /** Emits the last line if it did not end with a line break. */
  end(): void
}

/**
 * Calls `onLine` for each non-empty line of UTF-8 output, without control characters and terminal escape
 * sequences, cut at 1,000 characters. At most twice as many characters are buffered.
 */
export function outputLines(onLine: (line: string) => void): OutputLines {
  const decoder = new TextDecoder()
  let line = ''

  function add(text: string): void {
    // Twice the limit, since control characters are removed later.
    if (line.length <= 2 * maxLineLength) line += text.slice(0, 2 * maxLineLength)
  }

  function finish(): void {
    const shown = stripVTControlCharacters(line).replace(
      /[\p{Cc}\u2028\u2029]|[\u202a-\u202e\u2066-\u2069]/gu,
      '',
    )
    line = ''
    if (shown === '') return
    onLine(
      shown.length > maxLineLength ? `${shown.slice(0, maxLineLength).toWellFormed()}…` : shown,
    )
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
