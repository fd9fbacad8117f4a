import { decodePercent } from './percent.ts'

/**
 * The parts of a primary key in a path, as text. A composite key is decoded once and then split at
 * commas (D11); a single-part key may contain commas. `undefined` when the number of parts is wrong
 * or a part is empty.
 */
export function decodeKey(raw: string, parts: number): readonly string[] | undefined {
  const text = decodePercent(raw)
  if (text === undefined) return undefined
  const texts = parts === 1 ? [text] : text.split(',')
  return texts.length === parts && !texts.includes('') ? texts : undefined
}

/** Writes the parts of a key as one path segment. */
export function encodeKey(parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join(',')
}

/**
 * Why a text can't be (part of) a key that a path names, or `undefined` when it can. Clients and
 * proxies resolve dot segments, so an item with such a key could never be addressed.
 */
export function unaddressable(part: string, parts: number): string | undefined {
  if (part === '') return 'must not be empty'
  if (parts > 1 && part.includes(',')) return 'must not contain a comma'
  if (parts === 1 && (part === '.' || part === '..')) return 'must not be a dot segment'
  return undefined
}
