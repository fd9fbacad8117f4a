import type { Json } from '../../protocol/json.ts'
import { largeNumberAdvice, parseResponse, type LargeNumbers } from '../connection/json-text.ts'
import { TablesError } from './tables-error.ts'

/** The bytes of JSON syntax. */
export const tab = 0x09
export const newline = 0x0a
export const carriageReturn = 0x0d
export const space = 0x20
export const quote = 0x22
export const comma = 0x2c
export const openArray = 0x5b
export const backslash = 0x5c
export const closeArray = 0x5d
export const openObject = 0x7b
export const closeObject = 0x7d

/** Collects bytes up to a limit. */
export interface ByteBuffer {
  add(bytes: Uint8Array): void
  /** Returns the text of all bytes, and forgets them. Throws a TablesError if it is not UTF-8. */
  takeText(): string
}

/** Creates an empty buffer. `what` names its content in the error for too many bytes. */
export function byteBuffer(what: string | (() => string), maxBytes: number): ByteBuffer {
  const name = (): string => (typeof what === 'function' ? what() : what)
  // A byte order mark is not whitespace: JSON.parse rejects it.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let parts: Uint8Array[] = []
  let size = 0
  return {
    add: (bytes) => {
      size += bytes.length
      if (size > maxBytes) {
        throw new TablesError('TOO_LARGE', `${name()} has more than ${maxBytes} bytes.`)
      }
      // A copy: the source may use its chunk again, and a chunk is larger than what is kept of it.
      if (bytes.length > 0) parts.push(bytes.slice())
    },
    takeText: () => {
      const bytes = new Uint8Array(size)
      let at = 0
      for (const part of parts) {
        bytes.set(part, at)
        at += part.length
      }
      parts = []
      size = 0
      try {
        return decoder.decode(bytes)
      } catch {
        throw new TablesError('NOT_JSON', `${name()} is not valid UTF-8.`)
      }
    },
  }
}

/** The limits of a text. */
interface TextLimits {
  readonly largeNumbers: LargeNumbers
  /** Default: limited where the bytes were read. */
  readonly maxDepth?: number
}

/**
 * Parses JSON text by the rules of calls: duplicate names and numbers that a double can't hold are
 * rejected. The error does not quote the text.
 */
export function parseText(
  what: string,
  text: string,
  { largeNumbers, maxDepth = Infinity }: TextLimits,
): Json {
  const parsed = parseResponse(text, { maxDepth, largeNumbers })
  if ('value' in parsed) return parsed.value as Json
  if (parsed.problem === 'large number')
    throw new TablesError('NOT_JSON', `${what}: ${largeNumberAdvice(parsed.place, largeNumbers)}.`)
  if (parsed.problem === 'too deep')
    throw new TablesError('TOO_DEEP', `${what} is nested deeper than ${maxDepth} levels.`)
  const isDuplicate = parsed.problem === 'duplicate name'
  const problem = isDuplicate ? 'has an object with a duplicate name' : 'is not valid JSON'
  throw new TablesError('NOT_JSON', `${what} ${problem}.`)
}
