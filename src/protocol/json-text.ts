import { compactJson, depthOf, endOfString } from './json-scan.ts'
import { isJsonNumber } from './json-number.ts'
import { shownPath } from './json-pointer.ts'
import {
  maxLevels,
  parseExactly,
  parseSpaced,
  sources,
  written,
  type Source,
} from './json-source.ts'
import type { Json } from './json.ts'

/**
 * Parses JSON text exactly: a number that a double can't hold becomes a {@link JsonNumber}. {@link stringifyJson}
 * writes an array or object again as it was: each number with its digits, and members in their order. Throws a
 * SyntaxError for text that is not JSON.
 */
export function parseJson(text: string): Json {
  const value = JSON.parse(text) as Json
  // JSON.stringify can't write a value of any depth.
  if (text.length > 2 * maxLevels && depthOf(text) > maxLevels) return value
  return JSON.stringify(value) === text ? value : parseExactly(compactJson(text)).value
}

/**
 * Returns the JSON text of a value, as JSON.stringify without spaces, but with all digits of each JsonNumber.
 * Values that {@link parseJson} or the service has parsed keep the digits and the order that they had. Undefined for
 * a value that JSON does not have, such as a function. Throws a TypeError for a value that contains itself.
 */
export function stringifyJson(value: unknown): string | undefined {
  return isPlainJson(value) ? JSON.stringify(value) : written(value, undefined, '', 0)
}

/**
 * Says where a value has a number that is not finite or an invalid date, which {@link stringifyJson} writes as null:
 * what follows its name in a message. Undefined if there is none. The value must have a JSON text.
 */
export function lossInJson(value: unknown): string | undefined {
  const place = placeWithoutJson(value)
  if (place === undefined) return undefined
  const where = place.length === 0 ? 'is' : `has, at ${shownPath(place)},`
  return `${where} a number that is not finite or an invalid date`
}

function placeWithoutJson(value: unknown): readonly (string | number)[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : []
  if (typeof value !== 'object' || value === null || isJsonNumber(value)) return undefined
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? [] : undefined
  const { toJSON: convert } = value as { readonly toJSON?: unknown }
  if (typeof convert === 'function') return placeWithoutJson(convert.call(value, ''))
  const members = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, member] of members) {
    const place = placeWithoutJson(member)
    if (place !== undefined) return [key, ...place]
  }
  return undefined
}

/** Returns the text of {@link stringifyJson} on lines that are indented by two spaces. */
export function indentedJson(value: unknown): string {
  const text = stringifyJson(value) ?? 'null'
  let indented = ''
  let indent = '\n'
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    const end = character === '"' ? endOfString(text, index) + 1 : index + 1
    const token = text.slice(index, end)
    index = end - 1
    const isOpen = '[{'.includes(character)
    if (isOpen && ']}'.includes(text.charAt(end))) {
      indented += token + text.charAt(++index)
    } else if (isOpen) indented += token + (indent += '  ')
    else if (']}'.includes(character)) indented += (indent = indent.slice(0, -2)) + token
    else if (character === ',') indented += token + indent
    else indented += character === ':' ? ': ' : token
  }
  return indented
}

/** Sets a member of an object to the value of a JSON text. {@link memberText} returns the text while it is unchanged. */
export function setParsed(target: Record<string, unknown>, name: string, text: string): void {
  const value = JSON.parse(text) as Json
  if (JSON.stringify(value) === text) {
    target[name] = value
    return
  }
  const { value: exact, source } = parseSpaced(text)
  target[name] = exact
  if (source !== undefined) keepSource(target, name, source)
}

/** Returns the JSON text of a member of an object, as {@link stringifyJson} does. `value` is its value. */
export function memberText(target: object, name: string, value: unknown): string | undefined {
  const source = sources.get(target)?.inner?.get(name)
  return source === undefined ? stringifyJson(value) : written(value, source, name, 0)
}

/** Makes a member of an object keep the text of a member of another object, if it has the same value. */
export function copySource(target: object, name: string, from: unknown, key: string): void {
  const source = sources.get(Object(from) as object)?.inner?.get(key)
  if (source !== undefined) keepSource(target, name, source)
}

function keepSource(target: object, name: string, source: Source): void {
  const known = sources.get(target)
  const inner = new Map(known?.inner).set(name, source)
  sources.set(target, { text: '', ...known, inner })
}

/** Returns whether JSON.stringify writes a value exactly, or throws. */
export function isPlainJson(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null || level > maxLevels) return true
  if (isJsonNumber(value) || sources.has(value)) return false
  return Object.values(value).every((inner) => isPlainJson(inner, level + 1))
}
