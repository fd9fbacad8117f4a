const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes percent-encoded UTF-8 once. `undefined` when an escape is malformed, or when the bytes or
 * the text around them are not well-formed Unicode.
 */
export function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return isPlain(text) ? text : fromBytes(text)
  try {
    const decoded = decodeURIComponent(text)
    return isPlain(text) ? decoded : fromBytes(text)
  } catch {
    return undefined
  }
}

/** Like {@link decodePercent}, where `+` is a space, as in a query string (D4). */
export function decodeFormPercent(text: string): string | undefined {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7e) return false
  }
  return true
}

// Node hands on bytes above 0x7F of a request target as latin-1 characters. They may be raw UTF-8.
function fromBytes(text: string): string | undefined {
  const bytes: number[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0xff) return undefined
    if (code !== 0x25) {
      bytes.push(code)
      continue
    }
    const escape = text.slice(index + 1, index + 3)
    if (!/^[0-9A-Fa-f]{2}$/.test(escape)) return undefined
    bytes.push(Number.parseInt(escape, 16))
    index += 2
  }
  try {
    return utf8.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}
