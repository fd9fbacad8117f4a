/**
 * Decodes percent-encoded UTF-8 once. Returns undefined if an escape is malformed, or if the result is not
 * well-formed Unicode.
 */
export function decodePercent(text: string): string | undefined {
  const escaped = isAscii(text) ? text : withEscapedBytes(text)
  // Stryker disable next-line ConditionalExpression,StringLiteral: decoding gives the same, more slowly
  if (!escaped.includes('%')) return escaped
  try {
    return decodeURIComponent(escaped)
  } catch {
    return undefined
  }
}

/** Like {@link decodePercent}, with `+` as a space, as in a query string. */
export function decodeFormPercent(text: string): string | undefined {
  return decodePercent(text.replaceAll('+', ' '))
}

// Stryker disable all: replacing bytes in ASCII text gives the same, more slowly
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false
  }
  return true
}
// Stryker restore all

// Node passes bytes above 0x7F of a request target as Latin-1 characters. They can be raw UTF-8.
// A character that is not a byte becomes 0xFF, which is never valid in UTF-8.
function withEscapedBytes(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (character) => {
    const code = character.codePointAt(0) as number
    return `%${Math.min(code, 0xff).toString(16)}`
  })
}
