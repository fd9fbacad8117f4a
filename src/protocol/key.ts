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
 * Returns why a string can't be a key, or a part of one, in a path; undefined if it can. Clients and
 * proxies resolve dot segments, so no request could reach an item with such a key.
 */
export function unaddressable(part: string, parts: number): string | undefined {
  if (part === '') return 'must not be empty'
  if (parts > 1 && part.includes(',')) return 'must not contain a comma'
  if (parts === 1 && (part === '.' || part === '..')) return 'must not be a dot segment'
  return undefined
}
