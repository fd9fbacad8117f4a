import { compactJson, endOfNumber, endOfString } from './json-scan.ts'
import { exactNumber, isJsonNumber } from './json-number.ts'
import type { Json } from './json.ts'

/** What a value was parsed from, where JSON.stringify would write another text. */
export interface Source {
  readonly value: Json
  readonly text: string
  /** Of an array or object: the sources of its values, by index or name. */
  readonly inner?: Inner
  /** Of an object: its names as they were written, in their order. */
  readonly names?: ReadonlyMap<string, string>
  /** Of an array: the number of its values. */
  readonly length?: number
  /** The text that is written for the value where it is another one: without white space and names that are written twice. */
  readonly plain?: string
}

type Inner = ReadonlyMap<string | number, Source>

/** What is known of an array or object. */
type Known = Omit<Source, 'value'>

interface Parsed {
  readonly value: Json
  /** Absent if JSON.stringify writes the same text. */
  readonly source?: Source
}

// A value that code changes is compared with its source, so that the parts that are the same keep their text.
export const sources = new WeakMap<object, Known>()

// Deeper values are written as JSON.stringify writes them.
export const maxLevels = 512

/** Writes a value as JSON.stringify does. Unchanged parts are written with the text of their source. */
export function written(
  value: unknown,
  source: Source | undefined,
  key: string,
  level: number,
): string | undefined {
  if (typeof value !== 'object' || value === null) {
    const isSame = source !== undefined && Object.is(source.value, value)
    return isSame ? source.text : JSON.stringify(value)
  }
  if (isJsonNumber(value)) return source?.value === value ? source.text : value.text
  if (level > maxLevels) throw new TypeError('JSON: the value contains itself, or is too deep')
  const { toJSON: convert } = value as { readonly toJSON?: unknown }
  if (typeof convert === 'function') {
    return written(convert.call(value, key), source, key, level + 1)
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return JSON.stringify(value)
  }
  const known = sources.get(value) ?? source
  const text = Array.isArray(value)
    ? arrayText(value, known, level)
    : objectText(value, known, level)
  return known?.plain === text ? known.text : text
}

function arrayText(values: readonly unknown[], known: Known | undefined, level: number): string {
  // Values after those that were added or removed are as far from the end as before.
  const moved = (known?.length ?? 0) - values.length
  const texts = Array.from(values, (value, index) => {
    const source = known?.inner?.get(index)
    const isSame = source !== undefined && Object.is(source.value, value)
    const own = isSame ? source : (known?.inner?.get(index + moved) ?? source)
    return written(value, own, String(index), level + 1) ?? 'null'
  })
  return `[${texts.join(',')}]`
}

function objectText(object: object, known: Known | undefined, level: number): string {
  const members: string[] = []
  for (const name of namesOf(object, known?.names)) {
    const value = (object as Readonly<Record<string, unknown>>)[name]
    const text = written(value, known?.inner?.get(name), name, level + 1)
    if (text !== undefined)
      members.push(`${known?.names?.get(name) ?? JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}

/** Returns the names of an object. The names of its source come first, in their order, unless code has changed the order. */
function namesOf(object: object, known: Source['names']): readonly string[] {
  const names = Object.keys(object)
  if (known === undefined) return names
  const before = names.filter((name) => known.has(name))
  const kept = Array.from(known.keys()).filter((name) => Object.hasOwn(object, name))
  const natural = Object.keys(Object.fromEntries(kept.map((name) => [name, null])))
  if (kept.length !== before.length || natural.some((name, index) => name !== before[index])) {
    return names
  }
  return [...kept, ...names.filter((name) => !known.has(name))]
}

/** Parses valid JSON text, whose white space is kept while the value is unchanged. */
export function parseSpaced(text: string): Parsed {
  const compact = compactJson(text)
  const { value, source } = parseExactly(compact)
  if (compact === text) return { value, ...(source && { source }) }
  const known = { plain: compact, ...source, text }
  return typeof value === 'object' && value !== null && !isJsonNumber(value)
    ? container(value, known)
    : scalar(value, text)
}

/** Parses valid JSON text without white space that JSON.stringify would write differently. */
export function parseExactly(text: string): Parsed {
  return new ExactParser(text).parseValue()
}

class ExactParser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parseValue(): Parsed {
    switch (this.#text.charCodeAt(this.#at)) {
      case openObject:
        return this.#parseObject()
      case openArray:
        return this.#parseArray()
      case quote: {
        const [value, written] = this.#parseString()
        return JSON.stringify(value) === written ? { value } : scalar(value, written)
      }
      case letterT:
        this.#at += 4
        return { value: true }
      case letterF:
        this.#at += 5
        return { value: false }
      case letterN:
        this.#at += 4
        return { value: null }
      default:
        return this.#parseNumber()
    }
  }

  #parseString(): readonly [value: string, text: string] {
    const end = endOfString(this.#text, this.#at) + 1
    const written = this.#text.slice(this.#at, end)
    this.#at = end
    return [
      written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1),
      written,
    ]
  }

  #parseNumber(): Parsed {
    const end = endOfNumber(this.#text, this.#at)
    const written = this.#text.slice(this.#at, end)
    this.#at = end
    const value = exactNumber(written)
    const isKept = String(value) === written || value === Infinity || value === -Infinity
    return isKept ? { value } : scalar(value, written)
  }

  #parseArray(): Parsed {
    const start = this.#at
    const value: Json[] = []
    const inner = new Map<number, Source>()
    this.#at++
    while (this.#text.charCodeAt(this.#at) !== closeArray) {
      const element = this.parseValue()
      if (element.source !== undefined) inner.set(value.length, element.source)
      value.push(element.value)
      if (this.#text.charCodeAt(this.#at) === comma) this.#at++
    }
    this.#at++
    if (inner.size === 0) return { value }
    return container(value, {
      text: this.#text.slice(start, this.#at),
      inner,
      length: value.length,
    })
  }

  #parseObject(): Parsed {
    const start = this.#at
    const names = new Map<string, string>()
    const members = new Map<string, Json>()
    const inner = new Map<string, Source>()
    let count = 0
    let isOdd = false
    this.#at++
    while (this.#text.charCodeAt(this.#at) !== closeObject) {
      const [name, written] = this.#parseString()
      this.#at++
      const member = this.parseValue()
      isOdd ||= JSON.stringify(name) !== written
      count++
      names.set(name, written)
      members.set(name, member.value)
      inner.delete(name)
      if (member.source !== undefined) inner.set(name, member.source)
      if (this.#text.charCodeAt(this.#at) === comma) this.#at++
    }
    this.#at++
    const value = Object.fromEntries(members)
    const order = Array.from(names.keys())
    const isMoved = Object.keys(value).some((name, index) => name !== order[index])
    if (inner.size === 0 && !isOdd && !isMoved && count === names.size) return { value }
    const known = { text: this.#text.slice(start, this.#at), inner, names }
    return container(
      value,
      count === names.size ? known : { ...known, plain: objectText(value, known, 0) },
    )
  }
}

function scalar(value: Json, text: string): Parsed {
  return { value, source: { value, text } }
}

function container(value: Json & object, known: Known): Parsed {
  sources.set(value, known)
  return { value, source: { value, ...known } }
}

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const letterF = 0x66
const letterN = 0x6e
const letterT = 0x74
