import type { Json } from '../../protocol/json.ts'
import {
  backslash,
  byteBuffer,
  closeArray,
  closeObject,
  comma,
  openArray,
  openObject,
  parseText,
  quote,
} from './json-bytes.ts'
import { TablesError } from './tables-error.ts'

/** Reads what is around the array with some keys, and finds the array. */
export interface ShellScanner {
  /** Reads bytes. `isInArray` is true if the last byte that was read opened the array. */
  read(chunk: Uint8Array, from: number): { readonly next: number; readonly isInArray: boolean }
  /** The number of objects and arrays that are open. */
  depth(): number
  /** Returns the body, in which the array is empty. Throws a TablesError if it is not complete JSON. */
  end(): Json
}

/** Creates a scanner that looks for the array with these keys; without keys, the body is the array. */
export function shellScanner(
  keys: readonly string[],
  limits: { readonly maxShellBytes: number; readonly maxDepth: number },
): ShellScanner {
  const what = 'The response around its elements'
  const shell = byteBuffer(what, limits.maxShellBytes)
  const keyText = byteBuffer('A key of the response', limits.maxShellBytes)
  const open: ('object' | 'array')[] = []
  /** How many of the outermost open containers lead to the array. */
  let onPath = 0
  let lastKey: Json | undefined
  let string: 'none' | 'key' | 'value' = 'none'
  let isEscaped = false
  let isKeyNext = false
  let arrays = 0

  /** Returns whether the byte opened the array. */
  function begin(kind: 'object' | 'array'): boolean {
    const level = open.length
    const leads =
      onPath === level &&
      (level === 0 || (open[level - 1] === 'object' && lastKey === keys[level - 1]))
    open.push(kind)
    if (open.length > limits.maxDepth) {
      const message = `The response is nested deeper than ${limits.maxDepth} levels.`
      throw new TablesError('TOO_DEEP', message)
    }
    isKeyNext = kind === 'object'
    lastKey = undefined
    if (!leads) return false
    onPath++
    if (kind !== 'array' || level !== keys.length) return false
    if (++arrays > 1) {
      throw new TablesError('ITEMS_REPEATED', 'The array of elements occurs more than once.')
    }
    return true
  }

  function end(): void {
    if (onPath === open.length) onPath--
    open.pop()
    isKeyNext = false
  }

  /** Reads one byte of a string. Returns whether it is the last one. */
  function readString(byte: number | undefined): boolean {
    if (isEscaped) isEscaped = false
    else if (byte === backslash) isEscaped = true
    else return byte === quote
    return false
  }

  return {
    depth: () => open.length,
    read: (chunk, from) => {
      let keyFrom = from
      for (let index = from; index < chunk.length; index++) {
        const byte = chunk[index]
        if (string !== 'none') {
          if (!readString(byte)) continue
          if (string === 'key') {
            keyText.add(chunk.subarray(keyFrom, index + 1))
            lastKey = parseText('A key of the response', keyText.takeText())
          }
          string = 'none'
          continue
        }
        if (byte === quote) {
          string = isKeyNext ? 'key' : 'value'
          isKeyNext = false
          keyFrom = index
        } else if (byte === openObject || byte === openArray) {
          if (!begin(byte === openObject ? 'object' : 'array')) continue
          shell.add(chunk.subarray(from, index + 1))
          return { next: index + 1, isInArray: true }
        } else if (byte === closeObject || byte === closeArray) end()
        else if (byte === comma) isKeyNext = open.at(-1) === 'object'
      }
      if (string === 'key') keyText.add(chunk.subarray(keyFrom))
      shell.add(chunk.subarray(from))
      return { next: chunk.length, isInArray: false }
    },
    end: () => {
      const text = shell.takeText()
      // A byte order mark may begin the body, and nothing else.
      const value = parseText(what, text.startsWith('\uFEFF') ? text.slice(1) : text)
      let found: unknown = value
      for (const key of keys) found = memberOf(found, key)
      if (Array.isArray(found) && arrays === 1) return value
      throw new TablesError('ITEMS_MISSING', 'The response does not have the array of elements.')
    },
  }
}

function memberOf(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
  return isObject ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}
