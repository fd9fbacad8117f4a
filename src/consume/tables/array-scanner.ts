import type { Json } from '../../protocol/json.ts'
import {
  backslash,
  byteBuffer,
  carriageReturn,
  closeArray,
  closeObject,
  comma,
  newline,
  openArray,
  openObject,
  parseText,
  quote,
  space,
  tab,
} from './json-bytes.ts'
import { TablesError } from './tables-error.ts'

/** Where a scan of bytes has ended. */
export interface ArrayScan {
  /** The index of the first byte that was not read. */
  readonly next: number
  /** The element that is complete now; absent if there is none. */
  readonly element?: Json
  /** Whether the array has ended. The bracket is the next byte. */
  readonly ended: boolean
}

/** The limits of the elements of an array. */
export interface ElementLimits {
  readonly maxElementBytes: number
  readonly maxElements: number
  readonly maxDepth: number
}

/**
 * Creates a function that reads the bytes of an array, up to the end of one element. `outerDepth` is the
 * number of objects and arrays that are open, the array included.
 */
export function arrayScanner(
  { maxElementBytes, maxElements, maxDepth }: ElementLimits,
  outerDepth: number,
): (chunk: Uint8Array, from: number) => ArrayScan {
  const held = byteBuffer('An element of the response', maxElementBytes)
  let depth = outerDepth
  let isInString = false
  let isEscaped = false
  let hasBegun = false
  let isAfterComma = false
  let elements = 0

  function take(chunk: Uint8Array, from: number, end: number): Json {
    held.add(chunk.subarray(from, end))
    if (++elements > maxElements) {
      throw new TablesError('TOO_MANY_ROWS', `The response has more than ${maxElements} elements.`)
    }
    hasBegun = false
    return parseText('An element of the response', held.takeText())
  }

  return (chunk, from) => {
    for (let index = from; index < chunk.length; index++) {
      const byte = chunk[index]
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isInString = false
        continue
      }
      switch (byte) {
        case quote:
          isInString = true
          hasBegun = true
          break
        case openObject:
        case openArray:
          hasBegun = true
          if (++depth > maxDepth) {
            throw new TablesError(
              'TOO_DEEP',
              `The response is nested deeper than ${maxDepth} levels.`,
            )
          }
          break
        case closeObject:
        case closeArray: {
          if (depth > outerDepth) {
            depth--
            break
          }
          if (!hasBegun && !isAfterComma) return { next: index, ended: true }
          return { next: index, ended: true, element: take(chunk, from, index) }
        }
        case comma:
          if (depth > outerDepth) break
          isAfterComma = true
          return { next: index + 1, ended: false, element: take(chunk, from, index) }
        case space:
        case newline:
        case carriageReturn:
        case tab:
          break
        default:
          hasBegun = true
      }
    }
    held.add(chunk.subarray(from))
    return { next: chunk.length, ended: false }
  }
}
