/** The limits of JSON text. */
export interface JsonLimits {
  readonly maxDepth: number
  /** How numbers are read that a double can't hold. */
  readonly largeNumbers: 'reject' | 'string'
}

/** Why JSON text was rejected. */
export type JsonProblem = 'invalid' | 'too deep'

/** The result of {@link parseJson}: a value, or a problem. */
export type ParsedJson = { readonly value: unknown } | { readonly problem: JsonProblem }

/**
 * Parses JSON text. Rejects text that is nested too deeply, before anything recursive reads it; objects
 * with duplicate names, of which JSON.parse would keep the last; and integers above 2^53 and numbers such
 * as 1e999, which JSON.parse would round, unless they are to become strings.
 */
export function parseJson(text: string, limits: JsonLimits): ParsedJson {
  const scan = scanJson(text)
  if (scan.depth > limits.maxDepth) return { problem: 'too deep' }
  if (scan.large.length > 0 && limits.largeNumbers === 'reject') return { problem: 'invalid' }
  let value: unknown
  try {
    value = JSON.parse(quoted(text, scan.large))
  } catch {
    return { problem: 'invalid' }
  }
  return countMembers(value) === scan.members ? { value } : { problem: 'invalid' }
}

interface Scan {
  readonly depth: number
  /** The number of colons outside strings: in valid JSON, that of the members of all objects. */
  readonly members: number
  /** The start and end of each number that a double can't hold. */
  readonly large: readonly (readonly [number, number])[]
}

function scanJson(text: string): Scan {
  let depth = 0
  let deepest = 0
  let members = 0
  const large: (readonly [number, number])[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code === 0x3a) members++
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, index)
      if (isLarge(text, index, end)) large.push([index, end])
      index = end - 1
    }
  }
  return { depth: deepest, members, large }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    // Digits, and + - . E e.
    const isPart =
      isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65
    if (!isPart) break
  }
  return end
}

const integer = /^-?(?:0|[1-9]\d*)$/
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const nextColon = /\s*:/y

function isLarge(text: string, start: number, end: number): boolean {
  // No number of four characters is large; most numbers are short.
  if (end - start < 5) return false
  const number = text.slice(start, end)
  const value = Number(number)
  if (Number.isSafeInteger(value)) return false
  const isHeld = !integer.test(number) && Number.isFinite(value)
  // A name that is not quoted would become valid.
  nextColon.lastIndex = end
  return !isHeld && decimal.test(number) && !nextColon.test(text)
}

function quoted(text: string, numbers: readonly (readonly [number, number])[]): string {
  if (numbers.length === 0) return text
  const parts: string[] = []
  let last = 0
  for (const [start, end] of numbers) {
    parts.push(text.slice(last, start), '"', text.slice(start, end), '"')
    last = end
  }
  return parts.join('') + text.slice(last)
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

// Recursive: the depth has been checked.
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: readonly unknown[] = Object.values(value)
  let members = Array.isArray(value) ? 0 : values.length
  for (const inner of values) members += countMembers(inner)
  return members
}
