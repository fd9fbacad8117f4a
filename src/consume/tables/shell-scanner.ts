import type { Json } from '../../protocol/json.ts'
import type { LargeNumbers } from '../connection/json-text.ts'
import {
  backslash,
  byteBuffer,
  type ByteBuffer,
  closeArray,
  closeObject,
  comma,
  openArray,
  openObject,
  parseText,
  quote,
} from './json-bytes.ts'
import { TablesError } from './tables-error.ts'

const what = 'The response around its elements'
const keyName = 'A key of the response'

/** The limits of what is around the elements. */
export interface ShellLimits {
  readonly maxShellBytes: number
  readonly maxDepth: number
  readonly largeNumbers: LargeNumbers
}

/** Reads what is around the array with some keys, and finds the array. */
export class ShellScanner {
  readonly #keys: readonly string[]
  readonly #maxDepth: number
  readonly #textLimits: { readonly largeNumbers: LargeNumbers }
  readonly #shell: ByteBuffer
  readonly #keyText: ByteBuffer
  readonly #open: ('object' | 'array')[] = []
  /** How many of the outermost open containers lead to the array. */
  #onPath = 0
  #lastKey: Json | undefined
  #string: 'none' | 'key' | 'value' = 'none'
  #isEscaped = false
  #isKeyNext = false
  #arrays = 0

  /** Without keys, the body is the array. */
  constructor(keys: readonly string[], { maxShellBytes, maxDepth, largeNumbers }: ShellLimits) {
    this.#keys = keys
    this.#maxDepth = maxDepth
    this.#textLimits = { largeNumbers }
    this.#shell = byteBuffer(what, maxShellBytes)
    this.#keyText = byteBuffer(keyName, maxShellBytes)
  }

  /** The number of objects and arrays that are open. */
  get depth(): number {
    return this.#open.length
  }

  /** Reads bytes. `isInArray` is true if the last byte that was read opened the array. */
  read(chunk: Uint8Array, from: number): { readonly next: number; readonly isInArray: boolean } {
    let keyFrom = from
    for (let index = from; index < chunk.length; index++) {
      const byte = chunk[index]
      if (this.#string !== 'none') {
        if (!this.#readString(byte)) continue
        if (this.#string === 'key') {
          this.#keyText.add(chunk.subarray(keyFrom, index + 1))
          this.#lastKey = parseText(keyName, this.#keyText.takeText(), this.#textLimits)
        }
        this.#string = 'none'
        continue
      }
      if (byte === quote) {
        this.#string = this.#isKeyNext ? 'key' : 'value'
        this.#isKeyNext = false
        keyFrom = index
      } else if (byte === openObject || byte === openArray) {
        if (!this.#begin(byte === openObject ? 'object' : 'array')) continue
        this.#shell.add(chunk.subarray(from, index + 1))
        return { next: index + 1, isInArray: true }
      } else if (byte === closeObject || byte === closeArray) this.#close()
      else if (byte === comma) this.#isKeyNext = this.#open.at(-1) === 'object'
    }
    if (this.#string === 'key') this.#keyText.add(chunk.subarray(keyFrom))
    this.#shell.add(chunk.subarray(from))
    return { next: chunk.length, isInArray: false }
  }

  /** Returns the body, in which the array is empty. Throws a TablesError if it is not complete JSON. */
  end(): Json {
    const text = this.#shell.takeText()
    // A byte order mark may begin the body, and nothing else.
    const value = parseText(
      what,
      text.startsWith('\uFEFF') ? text.slice(1) : text,
      this.#textLimits,
    )
    let found: unknown = value
    for (const key of this.#keys) found = memberOf(found, key)
    if (Array.isArray(found) && this.#arrays === 1) return value
    const kind = found === null || found === undefined ? 'nothing' : `a ${typeof found}`
    const place = this.#keys.length === 0 ? 'The response is' : 'The response has'
    throw new TablesError(
      'ITEMS_MISSING',
      `${place} ${kind === 'a object' ? 'an object' : kind} in place of the array of elements.`,
    )
  }

  /** Returns whether the byte opened the array. */
  #begin(kind: 'object' | 'array'): boolean {
    const level = this.#open.length
    const leads =
      this.#onPath === level &&
      (level === 0 ||
        (this.#open[level - 1] === 'object' && this.#lastKey === this.#keys[level - 1]))
    this.#open.push(kind)
    if (this.#open.length > this.#maxDepth) {
      const message = `The response is nested deeper than ${this.#maxDepth} levels.`
      throw new TablesError('TOO_DEEP', message)
    }
    this.#isKeyNext = kind === 'object'
    this.#lastKey = undefined
    if (!leads) return false
    this.#onPath++
    if (kind !== 'array' || level !== this.#keys.length) return false
    if (++this.#arrays > 1) {
      throw new TablesError('ITEMS_REPEATED', 'The array of elements occurs more than once.')
    }
    return true
  }

  #close(): void {
    if (this.#onPath === this.#open.length) this.#onPath--
    this.#open.pop()
    this.#isKeyNext = false
  }

  /** Reads one byte of a string. Returns whether it is the last one. */
  #readString(byte: number | undefined): boolean {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else return byte === quote
    return false
  }
}

function memberOf(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
  return isObject ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}
