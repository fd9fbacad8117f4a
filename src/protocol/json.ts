import { ServiceError } from '../errors.ts'

/** Any JSON value. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** The deepest nesting that a body or a json field may have (D15). */
export const maximumDepth = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a request body: one JSON object in UTF-8, a leading BOM allowed (D15). Throws MALFORMED_BODY
 * for no body, malformed or too deep JSON, duplicate names, invalid UTF-8 and any other JSON type.
 */
export function decodeBody(bytes: Uint8Array): Readonly<Record<string, Json>> {
  if (bytes.length === 0) throw malformed('A request body is required: one JSON object.')
  const value = parse(decodeText(bytes))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The request body must be one JSON object.')
  }
  return value as Readonly<Record<string, Json>>
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The request body is not valid UTF-8.')
  }
}

function parse(text: string): Json {
  const scan = scanJson(text)
  if (scan.depth > maximumDepth) {
    throw malformed(`The request body is nested deeper than ${maximumDepth} levels.`)
  }
  const value = parseStandard(text)
  if (countMembers(value) !== scan.members)
    throw malformed('The request body has a duplicate name.')
  return value
}

function parseStandard(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The parser's own message quotes the input: only its position is handed on.
    const position = /position (\d+)/.exec(String(error))?.[1]
    const where = position === undefined ? '' : ` (at position ${position})`
    throw malformed(`The request body is not valid JSON${where}.`)
  }
}

// JSON.parse keeps the last of two equal names. In well-formed JSON every colon outside a string
// belongs to one member, so fewer members than colons means that a name came twice.
function scanJson(text: string): { readonly depth: number; readonly members: number } {
  let depth = 0
  let deepest = 0
  let members = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code === 0x3a) members++
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return { depth: deepest, members }
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

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value) as readonly Json[]
  let members = Array.isArray(value) ? 0 : values.length
  for (const inner of values) members += countMembers(inner)
  return members
}

function malformed(message: string): ServiceError {
  return new ServiceError('MALFORMED_BODY', message)
}
