import type { Json } from '../../protocol/json.ts'
import type { LargeNumbers } from '../connection/json-text.ts'
import {
  backslash,
  byteBuffer,
  type ByteBuffer,
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
  readonly largeNumbers: LargeNumbers
}

/** Reads the bytes of an array, element by element. */
export class ArrayScanner {
  readonly #limits: ElementLimits
  readonly #outerDepth: number
  readonly #held: ByteBuffer
  #depth: number
  #isInString = false
  #isEscaped = false
  #hasBegun = false
  #isAfterComma = false
  #elements = 0

  /** `outerDepth` is the number of objects and arrays that are open, the array included. */
  constructor(limits: ElementLimits, outerDepth: number) {
    this.#limits = limits
    this.#outerDepth = outerDepth
    this.#held = byteBuffer('An element of the response', limits.maxElementBytes)
    this.#depth = outerDepth
  }

  /** Reads bytes up to the end of one element. */
  read(chunk: Uint8Array, from: number): ArrayScan {
    for (let index = from; index < chunk.length; index++) {
      const byte = chunk[index]
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#isInString = false
        continue
      }
      switch (byte) {
        case quote:
          this.#isInString = true
          this.#hasBegun = true
          break
        case openObject:
        case openArray:
          this.#hasBegun = true
          if (++this.#depth > this.#limits.maxDepth) {
            throw new TablesError(
              'TOO_DEEP',
              `The response is nested deeper than ${this.#limits.maxDepth} levels.`,
            )
          }
          break
        case closeObject:
        case closeArray: {
          if (this.#depth > this.#outerDepth) {
            this.#depth--
            break
          }
          if (!this.#hasBegun && !this.#isAfterComma) return { next: index, ended: true }
          return { next: index, ended: true, element: this.#take(chunk, from, index) }
        }
        case comma:
          if (this.#depth > this.#outerDepth) break
          this.#isAfterComma = true
          return { next: index + 1, ended: false, element: this.#take(chunk, from, index) }
        case space:
        case newline:
        case carriageReturn:
        case tab:
          break
        default:
          this.#hasBegun = true
      }
    }
    this.#held.add(chunk.subarray(from))
    return { next: chunk.length, ended: false }
  }

  #take(chunk: Uint8Array, from: number, end: number): Json {
    this.#held.add(chunk.subarray(from, end))
    if (++this.#elements > this.#limits.maxElements) {
      throw new TablesError(
        'TOO_MANY_ROWS',
        `The response has more than ${this.#limits.maxElements} elements.`,
      )
    }
    this.#hasBegun = false
    const { largeNumbers } = this.#limits
    return parseText('An element of the response', this.#held.takeText(), { largeNumbers })
  }
}
