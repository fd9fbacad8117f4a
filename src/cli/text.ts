import { escapeHidden } from '../checks/hidden-characters.ts'

/** Returns the width of a string in columns: wide characters have two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0
  for (const { segment } of signs.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** Cuts a string to a number of columns, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const { segment } of signs.segment(text)) {
    left -= widthOf(segment)
    if (left < 0) break
    kept += segment
  }
  return width < 1 ? '' : `${kept}…`
}

/** Escapes control and invisible characters, so that a string cannot control a terminal. */
export function printable(text: string): string {
  return text.replace(hidden, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`
  })
}

/** Returns the message of an error as one line. */
export function errorMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return printable(message.trim().replace(/\s*\n\s*/g, ' '))
}

/** Returns JSON that cannot control a terminal: one line if it is not indented. */
export function jsonText(value: unknown, indent = 2): string {
  return escapeHidden(JSON.stringify(value, null, indent))
}

/**
 * Escapes what {@link printable} escapes in each line of a string. The escape sequences for emphasis
 * stay.
 */
export function printableLines(text: string): string {
  return text
    .split(ownSequence)
    .map((part, at) => (at % 2 === 1 ? part : part.split('\n').map(printable).join('\n')))
    .join('')
}

const signs = new Intl.Segmenter('en', { granularity: 'grapheme' })
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe0f\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const hidden = /[\p{C}\p{Zl}\p{Zp}]/gu
const ownSequence = new RegExp(`(${String.fromCharCode(0x1b)}\\[[01]m)`)

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
