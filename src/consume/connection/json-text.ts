import * as z from 'zod/mini'
import { countMembers, endOfNumber, endOfString, isDigit } from '../../protocol/json-scan.ts'
import { parseJson as parseExactly } from '../../protocol/json-text.ts'
import { pointerAt } from '../../protocol/json-pointer.ts'

/** The limits of JSON text. */
export interface JsonLimits {
  readonly maxDepth: number
  /** How numbers are read that a double can't hold. */
  readonly largeNumbers: LargeNumbers
}

/** What happens to numbers that a double can't hold, as the options of an endpoint name it. */
export type LargeNumbers = 'reject' | 'string' | 'exact'

/** Why JSON text was rejected. */
export type JsonProblem =
  | { readonly problem: 'invalid' | 'too deep' | 'duplicate name' }
  /** A number that a double can't hold, with its place; see {@link pointerAt}. */
  | { readonly problem: 'large number'; readonly place: string }

/** The schema of an option that is {@link LargeNumbers}. */
export const largeNumbersOption = z.enum(['reject', 'string', 'exact'])

/** The result of {@link parseResponse}: a value, or a problem. */
export type ParsedJson = { readonly value: unknown } | JsonProblem

/**
 * Parses JSON text. Rejects text that is nested too deeply, before anything recursive reads it; objects
 * with duplicate names, of which JSON.parse would keep the last; and integers above 2^53 and numbers such
 * as 1e999, which JSON.parse would round, unless they are to become strings. With `exact`, every number that a
 * double does not hold exactly becomes a JsonNumber, and only numbers such as 1e999 are rejected.
 */
export function parseResponse(text: string, limits: JsonLimits): ParsedJson {
  const scan = scanJson(text)
  if (scan.depth > limits.maxDepth) return { problem: 'too deep' }
  const { largeNumbers } = limits
  const rejected = scan.large.find(
    ([start, end]) =>
      largeNumbers === 'reject' ||
      (largeNumbers === 'exact' && !Number.isFinite(Number(text.slice(start, end)))),
  )
  const isExact = largeNumbers === 'exact' && rejected === undefined
  let value: unknown
  try {
    value = isExact ? parseExactly(text) : JSON.parse(quoted(text, scan.large))
  } catch {
    return { problem: 'invalid' }
  }
  if (countMembers(value) !== scan.members) return { problem: 'duplicate name' }
  if (rejected === undefined) return { value }
  return { problem: 'large number', place: pointerAt(text, rejected[0]) }
}

/** Returns what an error message says about a number that was rejected. */
export function largeNumberAdvice(place: string, largeNumbers: LargeNumbers): string {
  const where = place === '' ? 'it' : `the value at ${place}`
  const options = largeNumbers === 'exact' ? "'string'" : "'string' or 'exact'"
  return `${where} is a number that a double cannot hold; set largeNumbers to ${options}`
}

interface Scan {
  readonly depth: number
  /** The number of colons outside strings: in valid JSON, the number of members of all objects. */
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
