/** A position in a list of items, as a client holds it. */
export interface Cursor {
  /** What the cursor is valid for, and its values, as a digest. */
  readonly digest: string
  /** The values of the fields of the position, in stored form. */
  readonly values: readonly (string | number | boolean | null)[]
}

/**
 * Stands for a position whose values make no cursor, because it would be too long for a header and a query.
 * It shows that there is a next page, and `$after` rejects it.
 */
export const cursorTooLong = 'too-long'

// Proxies limit the headers of a response, often to 4 KB.
const maxLength = 2_000

/** Returns the text of a cursor; `too-long` for one that would have more than 2,000 characters. */
export function encodeCursor({ digest, values }: Cursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify([digest, ...values]))
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  const encoded = btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return encoded.length > maxLength ? cursorTooLong : encoded
}

/** Returns the cursor of a string; undefined for a string that {@link encodeCursor} does not return. */
export function decodeCursor(text: string): Cursor | undefined {
  if (text.length > maxLength) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (!Array.isArray(parsed)) return undefined
    const [digest, ...values] = parsed as readonly unknown[]
    if (typeof digest !== 'string' || !values.every(isValue)) return undefined
    const cursor = { digest, values }
    // One text for each cursor: base64 and JSON have several.
    return encodeCursor(cursor) === text ? cursor : undefined
  } catch {
    return undefined
  }
}

function isValue(value: unknown): value is Cursor['values'][number] {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
