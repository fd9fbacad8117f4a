import { isJsonNumber } from '../../protocol/json-number.ts'
import { lossInJson, stringifyJson } from '../../protocol/json-text.ts'
import { hasFile } from './file.ts'
import type { Pair } from '../parameters.ts'

/**
 * How a list or an object is sent in a form, such as `tag` with the list `['a', 'b']` or the object `{ x: 1 }`:
 *
 * - `repeated`: `tag=a&tag=b`; an object as JSON
 * - `comma`, `space` and `pipe`: `tag=a,b`, with one of these characters; an object as `tag=x,1`
 * - `brackets`: `tag[]=a&tag[]=b`; an object as `tag[x]=1`, at any depth
 * - `indices`: `tag[0]=a&tag[1]=b`; an object as `tag[x]=1`, at any depth
 * - `members`: each member of an object by its own name, `x=1`; a list as `tag=a&tag=b`
 * - `json`: `tag=["a","b"]` and `tag={"x":1}`
 */
export type FormStyle = (typeof formStyles)[number]

export const formStyles = [
  'repeated',
  'comma',
  'space',
  'pipe',
  'brackets',
  'indices',
  'members',
  'json',
] as const

const separators: Readonly<Partial<Record<FormStyle, string>>> = {
  comma: ',',
  space: ' ',
  pipe: '|',
}
const maxDepth = 64

/** A value that a form can't have. The message says why, after the place of the value, and quotes nothing of it. */
export class FormError extends Error {}

/**
 * Returns the pairs that a member of a form sends; none if it is undefined or null, or an empty list or object that is
 * not sent as JSON. Throws a FormError for a value that has no form.
 */
export function formPairs(name: string, value: unknown, style: FormStyle): readonly Pair[] {
  return pairsAt(name, value, style, 0)
}

function pairsAt(name: string, given: unknown, style: FormStyle, depth: number): readonly Pair[] {
  if (!name.isWellFormed()) throw new FormError('has a name with a lone surrogate')
  if (depth > maxDepth) throw new FormError(`is nested deeper than ${maxDepth} levels`)
  const value = plainOf(given)
  if (value === undefined || value === null) return []
  if (typeof value !== 'object') return [[name, scalarText(value)]]
  if (style === 'json') return [[name, jsonText(value)]]
  const isList = Array.isArray(value)
  const separator = separators[style]
  if (separator !== undefined) {
    const parts = isList ? value : Object.entries(value).flat()
    const texts = parts.map((part: unknown) => scalarText(plainOf(part)))
    // A separator inside a value would become two values.
    if (texts.some((text) => text.includes(separator)))
      throw new FormError(`has a value with the separator of the style ${style}`)
    return texts.length === 0 ? [] : [[name, texts.join(separator)]]
  }
  if (isList) return listPairs(name, value, style, depth)
  if (style === 'repeated') return [[name, jsonText(value)]]
  return Object.entries(value).flatMap(([key, member]) =>
    pairsAt(style === 'members' ? key : `${name}[${key}]`, member, style, depth + 1),
  )
}

function listPairs(
  name: string,
  list: readonly unknown[],
  style: FormStyle,
  depth: number,
): readonly Pair[] {
  return list.flatMap((element, index) => {
    const value = plainOf(element)
    if (value === undefined || value === null) throw new FormError('is a list with null in it')
    if (style === 'brackets' || style === 'indices') {
      const key = style === 'brackets' ? '' : String(index)
      return pairsAt(`${name}[${key}]`, value, style, depth + 1)
    }
    return [[name, typeof value === 'object' ? jsonText(value) : scalarText(value)] as const]
  })
}

/** Returns the value as which JSON would have it, such as a string for a Date. Throws a FormError for an invalid date. */
export function plainOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isJsonNumber(value)) return value
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw new FormError('has an invalid date')
  const { toJSON } = value as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value
}

function scalarText(value: unknown): string {
  const isValid =
    typeof value === 'string'
      ? value.isWellFormed()
      : typeof value === 'boolean' || Number.isFinite(value) || isJsonNumber(value)
  if (!isValid)
    throw new FormError(
      'has a value that is not a boolean, a finite number or a string without lone surrogates',
    )
  return String(value)
}

const noJson = 'has no JSON'
const misplacedFile =
  'has a file in an object: only members of the body and lists of them can be files'

/**
 * Returns the JSON text of a value. Throws a FormError for a cycle, a bigint, and for a number or a date that would be
 * written as null.
 */
export function jsonText(value: unknown): string {
  let text: string | undefined
  try {
    text = stringifyJson(value)
  } catch (cause) {
    throw new FormError(hasFile(value) ? misplacedFile : noJson, { cause })
  }
  if (text === undefined) throw new FormError(noJson)
  const loss = lossInJson(value)
  if (loss !== undefined) throw new FormError(loss)
  return text
}
