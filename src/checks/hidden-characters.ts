// The line breaks of a string are its layout: in code and JSON they are escaped already.
const hidden = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Escapes control characters and other characters that are not shown or that change the direction of a line, such as
 * ESC, U+009B, U+2028 and U+202E, as `\uXXXX`. Strings in JSON and JavaScript keep their value. Line breaks stay.
 */
export function escapeHidden(text: string): string {
  return text.replace(hidden, (sign) =>
    Array.from({ length: sign.length }, (_, at) => unitOf(sign.charCodeAt(at))).join(''),
  )
}

function unitOf(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}
