import { isJsonNumber } from './json-number.ts'

/** Returns the index of the quote that ends the string which begins at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Returns whether an odd number of backslashes precedes a character. */
export function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

/** Returns whether a character code belongs to a digit. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Returns the index after the number which begins at `start`. */
export function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isPartOfNumber(text.charCodeAt(end))) end++
  return end
}

// Digits, and + - . E e.
function isPartOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65
}

/**
 * Returns the number of members of all objects in a value. JSON text with more colons outside of strings has
 * a duplicate name, of which JSON.parse keeps the last. Recursive: the depth of the value must be limited.
 */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null || isJsonNumber(value)) return 0
  const values: readonly unknown[] = Object.values(value)
  let members = Array.isArray(value) ? 0 : values.length
  for (const inner of values) members += countMembers(inner)
  return members
}

/** Returns JSON text without white space outside of strings. */
export function compactJson(text: string): string {
  if (!/[\t\n\r ]/.test(text)) return text
  let compact = ''
  let from = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code <= 0x20) {
      compact += text.slice(from, index)
      from = index + 1
    }
  }
  return from === 0 ? text : compact + text.slice(from)
}

/** Returns the text of each member of a JSON object. Its text must be valid JSON, without white space between members. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let name = ''
  let start = 0
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) {
      const end = endOfString(text, index)
      if (depth === 1 && start === 0) {
        name = JSON.parse(text.slice(index, end + 1)) as string
        start = end + 2
        index = end + 1
      } else index = end
    } else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d || code === 0x2c) {
      if (depth === 1 && start > 0) {
        members.set(name, text.slice(start, index))
        start = 0
      }
      if (code !== 0x2c) depth--
    }
  }
  return members
}

/** Returns how many arrays and objects of valid JSON text are nested in each other. */
export function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > deepest) deepest = depth
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return deepest
}
