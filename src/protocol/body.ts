import { ServiceError } from '../errors.ts'
import {
  compactJson,
  countMembers,
  endOfNumber,
  endOfString,
  isDigit,
  isEscaped,
  memberTexts,
} from './json-scan.ts'
import { setParsed } from './json-text.ts'
import { maxBodyDepth, maxDepth, type Json } from './json.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A decoded request body. */
export interface DecodedBody {
  readonly values: Readonly<Record<string, Json>>
  /** The names of members whose number has a fraction that was lost because a double can't represent it. */
  readonly rounded: ReadonlySet<string>
}

/**
 * Decodes a request body: one JSON object in UTF-8, optionally with a BOM. Throws MALFORMED_BODY for an
 * empty body, malformed or too deeply nested JSON, duplicate names, invalid UTF-8 and any other JSON type.
 *
 * @param exact the names of members that are parsed exactly: they keep their text, see `memberText`
 */
export function decodeBody(bytes: Uint8Array, exact: readonly string[] = []): DecodedBody {
  if (bytes.length === 0) throw malformed('A request body is required: one JSON object.')
  const text = decodeText(bytes)
  const scan = scanJson(text)
  const value = parse(text, scan)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The request body must be one JSON object.')
  }
  const values = value as Record<string, Json>
  if (exact.some((name) => Object.hasOwn(values, name))) {
    const texts = memberTexts(compactJson(text))
    for (const name of exact) {
      const own = texts.get(name)
      if (own !== undefined) setParsed(values, name, own)
    }
  }
  return {
    values,
    rounded:
      scan.rounded === undefined ? none : new Set(scan.rounded.map((at) => nameAt(text, at))),
  }
}

const none: ReadonlySet<string> = new Set()

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The request body is not valid UTF-8.')
  }
}

function parse(text: string, scan: Scan): Json {
  if (scan.depth > maxBodyDepth) {
    throw malformed(`The request body has a value that is nested deeper than ${maxDepth} levels.`)
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
    // The parser's message quotes the input, which must not be repeated. Only the position is used.
    const position = /position (\d+)/.exec(String(error))?.[1]
    const where = position === undefined ? '' : ` (at position ${position})`
    throw malformed(`The request body is not valid JSON${where}.`)
  }
}

// In well-formed JSON every colon outside a string belongs to one member.
function scanJson(text: string): Scan {
  let depth = 0
  let deepest = 0
  let members = 0
  let lastColon = 0
  let rounded: number[] | undefined
  // Stryker disable next-line EqualityOperator: nothing stands at the end of the text
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code === 0x3a) {
      members++
      lastColon = index
    } else if (depth === 1 && isDigit(code)) {
      const end = endOfNumber(text, index)
      if (isRounded(text.slice(index, end))) (rounded ??= []).push(lastColon)
      index = end - 1
    } else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return { depth: deepest, members, rounded }
}

interface Scan {
  readonly depth: number
  readonly members: number
  /** The positions of the colons before the numbers of the outermost object that were rounded. */
  readonly rounded: readonly number[] | undefined
}

/**
 * Returns whether the double of a number is an integer although the number as written, without its sign, is
 * not.
 */
function isRounded(number: string): boolean {
  if (!Number.isInteger(Number(number))) return false
  // Stryker disable next-line StringLiteral: a number in JSON has a whole part
  const [, whole = '', fraction = '', exponent = 0] =
    // Stryker disable next-line Regex,ArrayDeclaration: any other text is not JSON
    /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = whole + fraction
  let significant = digits.length
  while (digits.charCodeAt(significant - 1) === 0x30) significant--
  return significant > 0 && significant > whole.length + Number(exponent)
}

/** Returns the name of the member whose colon is at an index. The text must be valid JSON. */
function nameAt(text: string, colon: number): string {
  const end = text.lastIndexOf('"', colon)
  let start = text.lastIndexOf('"', end - 1)
  while (isEscaped(text, start)) start = text.lastIndexOf('"', start - 1)
  return JSON.parse(text.slice(start, end + 1)) as string
}

function malformed(message: string): ServiceError {
  return new ServiceError('MALFORMED_BODY', message)
}
