import { decodePercent } from './percent.ts'

/**
 * Decodes the parts of a primary key in a path. A composite key is decoded once and then split at commas;
 * a single-part key may contain commas. Returns undefined if the number of parts is wrong or a part is
 * empty.
 */
export function decodeKey(raw: string, parts: number): readonly string[] | undefined {
  const text = decodePercent(raw)
  if (text === undefined) return undefined
  const texts = parts === 1 ? [text] : text.split(',')
  return texts.length === parts && !texts.includes('') ? texts : undefined
}

/** Encodes the parts of a key as one path segment. */
export function encodeKey(parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join(',')
}

/**
 * Returns the message that a string can't be a key, or a part of one, in a path; undefined if it can. Clients and
 * proxies resolve dot segments, so no request could reach an item with such a key.
 */
export function unaddressable(
  part: string,
  parts: number,
): 'keyEmpty' | 'keyWithComma' | 'keyOfDots' | undefined {
  if (part === '') return 'keyEmpty'
  if (parts > 1 && part.includes(',')) return 'keyWithComma'
  if (parts === 1 && (part === '.' || part === '..')) return 'keyOfDots'
  return undefined
}

/**
 * Returns the number of bytes of a key in a path. Everything but letters, digits, `-`, `.` and `_` counts as
 * percent-encoded, also the commas between parts: some clients encode more than {@link encodeKey}. For a key that can't
 * be longer than `enough`, a larger number that is not above it may be returned.
 */
export function encodedLength(parts: readonly unknown[], enough = 0): number {
  const texts = parts.map(String)
  let length = (texts.length - 1) * escapeLength
  let most = length
  for (const text of texts) most += text.length * maxUnitLength
  if (most <= enough) return most
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) length += bytesOf(text.charCodeAt(index))
  }
  return length
}

// `%41`
const escapeLength = 3
// A UTF-16 unit has at most three bytes in UTF-8; two surrogates have four.
const maxUnitLength = 3 * escapeLength

function bytesOf(unit: number): number {
  if (unit < 0x80) return unreserved.includes(String.fromCharCode(unit)) ? 1 : escapeLength
  if (unit < 0x800) return 2 * escapeLength
  return unit >= 0xd800 && unit < 0xe000 ? 2 * escapeLength : maxUnitLength
}

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._'
