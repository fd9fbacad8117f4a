import { ServiceError } from '../errors.ts'
import { hasLengthWithin } from './code-points.ts'
import { repeatedName } from './names.ts'
import { decodeFormPercent } from './percent.ts'

/** One field of a sort order. */
export interface SortKey {
  readonly field: string
  readonly descending: boolean
}

/** The parameters of a collection request. Field names may be unknown. */
export interface CollectionQuery {
  /** The page size. */
  readonly limit?: number
  /** The number of items to skip. */
  readonly offset?: number
  /** The cursor of the page that came before. */
  readonly after?: string
  readonly sort?: readonly SortKey[]
  /** The selected fields, `*` for all. */
  readonly fields?: readonly string[] | '*'
  /** The string to search for. */
  readonly q?: string
  readonly count?: boolean
  /** The relations whose items each item has. */
  readonly expand?: readonly string[]
}

/** A decoded query string: the parameters with a `$`, and the conditions. */
export interface DecodedQuery {
  readonly collection: CollectionQuery
  /** The parameters without a `$`: the value to compare with, by field name. */
  readonly conditions: ReadonlyMap<string, string>
  /** All values of each condition that is a list, by name. Absent: there is none. */
  readonly lists?: ReadonlyMap<string, readonly string[]>
}

/** Parameters by name, and whether they can be repeated, for several values. */
export type KnownLists = ReadonlyMap<string, { readonly isList: boolean }>

/** How one parameter of {@link CollectionQuery} is decoded, encoded and described. */
export interface Parameter<Value> {
  /** The name on the wire. */
  readonly name: string
  /** For documentation and OpenAPI. */
  readonly description: string
  /** What a value must be, for the error message. */
  readonly rule: string
  /** Whether the parameter can be repeated. The values are joined with a comma. */
  readonly list?: boolean
  /** Returns undefined if the string violates the rule. */
  decode(text: string): Value | undefined
  encode(value: Value): string
}

type ParameterTable = {
  readonly [Name in keyof CollectionQuery]-?: Parameter<NonNullable<CollectionQuery[Name]>>
}

const naturalNumber = {
  rule: 'must be an integer in plain digits',
  decode: (text: string) => {
    if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined
    const value = Number(text)
    return Number.isSafeInteger(value) ? value : undefined
  },
  encode: String,
}

/** All parameters of collections, one row each. */
export const parameters: ParameterTable = {
  limit: { name: '$limit', description: 'Page size.', ...naturalNumber },
  offset: { name: '$offset', description: 'Number of items to skip.', ...naturalNumber },
  after: {
    name: '$after',
    description: 'The cursor of the page before, in collections that have cursors.',
    rule: 'must be the cursor of a page',
    decode: (text) => text,
    encode: (text) => text,
  },
  sort: {
    name: '$sort',
    description: 'Field names in order of precedence; a leading - means descending.',
    rule: 'must list distinct field names, each with an optional leading -',
    list: true,
    decode: (text) => distinct(text.split(',').map(decodeSortKey), (key) => key?.field),
    encode: (keys) => keys.map((key) => (key.descending ? '-' : '') + key.field).join(','),
  },
  fields: {
    name: '$fields',
    description: 'The fields to return, or * for all.',
    rule: 'must list distinct field names, or be * alone',
    list: true,
    decode: (text) =>
      text === '*' ? '*' : distinct(text.split(',').map(decodeName), (name) => name),
    encode: (fields) => (fields === '*' ? '*' : fields.join(',')),
  },
  q: {
    name: '$q',
    description: 'Returns items with at least one field that contains the string, ignoring case.',
    rule: 'must have at most 200 characters and no U+0000',
    decode: (text) => (hasLengthWithin(text, 0, 200) && !text.includes('\0') ? text : undefined),
    encode: (text) => text,
  },
  count: {
    name: '$count',
    description: 'Whether to count all items that match.',
    rule: 'must be true or false',
    decode: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    encode: String,
  },
  expand: {
    name: '$expand',
    description: 'The relations whose items each item has, in collections that allow it.',
    rule: 'must list distinct names',
    decode: (text) => distinct(text.split(',').map(decodeName), (name) => name),
    encode: (names) => names.join(','),
  },
}

const byName = new Map(
  Object.entries(parameters).map(([member, row]) => [row.name, { member, row: row }]),
)

const maxParameters = 100

/**
 * Decodes a raw query string without its `?`. Throws MALFORMED_QUERY for invalid encoding, a parameter that
 * is unknown, repeated or without a name, an invalid value, and more than 100 parameters. What `known` has as lists may
 * be repeated, and counts once. Without it there, `$expand` is unknown.
 */
export function decodeQuery(raw: string, known: KnownLists = noLists): DecodedQuery {
  if (raw === '') return emptyQuery
  const conditions = new Map<string, string>()
  const collection: Record<string, unknown> = {}
  const lists = new Map<string, string[]>()
  for (const [name, value] of joinedValues(raw, known, lists)) {
    if (!name.startsWith('$')) {
      conditions.set(name, value)
      continue
    }
    const entry = byName.get(name)
    const isOff = entry?.member === 'expand' && !known.has(name)
    if (entry === undefined || isOff) throw unknownParameter(name)
    const decoded = entry.row.decode(lists.get(name)?.join() ?? value)
    if (decoded === undefined) throw malformedQuery(`The parameter ${name} ${entry.row.rule}.`)
    collection[entry.member] = decoded
  }
  return lists.size === 0 ? { collection, conditions } : { collection, conditions, lists }
}

const noLists: KnownLists = new Map()
const emptyQuery: DecodedQuery = { collection: {}, conditions: new Map() }

/** Encodes a query string, without `?`. */
export function encodeQuery(query: DecodedQuery): string {
  const pairs = Array.from(query.conditions)
  for (const [member, row] of Object.entries(parameters) as [
    keyof CollectionQuery,
    Parameter<unknown>,
  ][]) {
    const value = query.collection[member]
    if (value !== undefined) pairs.push([row.name, row.encode(value)])
  }
  return pairs
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}

/** Returns the same error for an unknown parameter and for a field that the caller must not read. */
export function unknownParameter(name: string): ServiceError {
  return malformedQuery(`Unknown query parameter: ${repeatedName(name)}.`)
}

/** Returns the same error for an unknown field and for one that the caller must not read. */
export function unknownField(parameter: string, name: string): ServiceError {
  return malformedQuery(`Unknown field in ${parameter}: ${repeatedName(name)}.`)
}

/** Returns the name of the first parameter; undefined for a query without parameters. */
export function firstParameter({ conditions, collection }: DecodedQuery): string | undefined {
  const [condition] = conditions.keys()
  if (condition !== undefined) return condition
  const [member] = Object.keys(collection) as (keyof CollectionQuery)[]
  return member && parameters[member].name
}

/** Returns the error for an invalid query. */
export function malformedQuery(message: string): ServiceError {
  return new ServiceError('MALFORMED_QUERY', message)
}

/** Returns the value of each parameter. The values of a list of `known` are added to `lists`. */
function joinedValues(
  raw: string,
  known: KnownLists,
  lists: Map<string, string[]>,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const pairs = raw.split('&').filter((pair) => pair !== '')
  requireFew(pairs, known)
  for (const pair of pairs) {
    const end = `${pair}=`.indexOf('=')
    const name = decodeFormPercent(pair.slice(0, end))
    const value = decodeFormPercent(pair.slice(end + 1))
    if (name === undefined || value === undefined) {
      throw malformedQuery('The query is not valid percent-encoded UTF-8.')
    }
    if (name === '') throw malformedQuery('The query has a parameter without a name.')
    const list = lists.get(name)
    if (list !== undefined) {
      list.push(value)
      continue
    }
    if (known.get(name)?.isList === true) lists.set(name, [value])
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, value)
    else if (byName.get(name)?.row.list === true) values.set(name, `${earlier},${value}`)
    else throw malformedQuery(`Repeated query parameter: ${repeatedName(name)}.`)
  }
  return values
}

function requireFew(pairs: readonly string[], known: KnownLists): void {
  if (pairs.length <= maxParameters) return
  const isElement = (pair: string): boolean => {
    const name = nameIn(pair)
    return name !== undefined && known.get(name)?.isList === true
  }
  // Each element of a list is a parameter of the same name.
  const others = known.size === 0 ? pairs : pairs.filter((pair) => !isElement(pair))
  if (others.length <= maxParameters) return
  throw malformedQuery(`The query has more than ${maxParameters} parameters.`)
}

/** Returns whether a raw query string has a parameter. */
export function hasParameter(raw: string, name: string): boolean {
  // Most queries have no percent-encoded name.
  const mayHave = raw.includes(name) || raw.includes('%')
  return mayHave && raw.split('&').some((pair) => nameIn(pair) === name)
}

/** Returns the name of a raw parameter; undefined if its encoding is not valid. */
function nameIn(pair: string): string | undefined {
  return decodeFormPercent(pair.slice(0, `${pair}=`.indexOf('=')))
}

function decodeSortKey(text: string): SortKey | undefined {
  const descending = text.startsWith('-')
  const field = decodeName(descending ? text.slice(1) : text)
  // Stryker disable next-line ConditionalExpression: a sort key without a field is not distinct either
  return field === undefined ? undefined : { field, descending }
}

function decodeName(text: string): string | undefined {
  return text === '' || /^[-*\s]|\s$/.test(text) ? undefined : text
}

function distinct<Value>(
  values: readonly (Value | undefined)[],
  nameOf: (value: Value | undefined) => string | undefined,
): readonly Value[] | undefined {
  const names = new Set(values.map(nameOf))
  return names.size === values.length && !names.has(undefined) ? (values as Value[]) : undefined
}
