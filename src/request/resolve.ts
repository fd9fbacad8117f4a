import type { PublishedComputed } from '../definition/published-computed.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { notFound } from '../errors.ts'
import { decodeKey } from '../protocol/key.ts'
import {
  malformedQuery,
  unknownField,
  unknownParameter,
  type DecodedQuery,
  type SortKey,
} from '../protocol/query.ts'
import { askedCondition, equality, requireFewOperators } from './asked-condition.ts'
import type { AskedOperator } from './asked-operators.ts'
import type { Condition, SortField } from './query.ts'

const maxSortKeys = 10

/** What happens to a `$limit` above the maximum: it is lowered (`clamp`), or the request fails (`reject`). */
export interface PageRules {
  readonly limitExcess: 'clamp' | 'reject'
}

/** Returns the stored values of a raw key. Throws NOT_FOUND for a key that no item can have. */
export function resolveKey(collection: PublishedCollection, raw: string): readonly StoredValue[] {
  const texts = decodeKey(raw, collection.key.length)
  if (texts === undefined) throw notFound()
  return collection.key.map((part, index) => {
    const value = part.storeText(texts[index] as string)
    if (value === undefined) throw notFound()
    return value
  })
}

/** Returns the conditions that select an item by its key. */
export function keyConditions(
  collection: PublishedCollection,
  key: readonly StoredValue[],
): readonly Condition[] {
  return collection.key.map((part, index) => ({
    field: part.name,
    is: 'equal',
    value: key[index] as StoredValue,
  }))
}

/** Returns the key that conditions require; undefined if they do not require all of it. The key of the path comes first. */
export function keyIn(
  { key }: PublishedCollection,
  conditions: readonly Condition[],
): readonly StoredValue[] | undefined {
  const values = key.flatMap(({ name }) => {
    const own = conditions.find((one) => one.is === 'equal' && one.field === name)
    return own?.is === 'equal' ? [own.value] : []
  })
  return values.length > 0 && values.length === key.length ? values : undefined
}

/**
 * Resolves the conditions of a query. Throws MALFORMED_QUERY for unknown names, invalid values and too many conditions.
 * A name is checked before its value, because a message about a value would show that its field exists.
 */
export function resolveConditions(
  collection: PublishedCollection,
  { conditions, lists }: Pick<DecodedQuery, 'conditions' | 'lists'>,
  operators: ReadonlyMap<string, AskedOperator> = collection.operators,
): readonly Condition[] {
  let count = 0
  return Array.from(conditions, ([name, text]) => {
    const field = collection.byName.get(name)
    if (field === undefined) {
      const asked = operators.get(name)
      if (asked !== undefined) {
        requireFewOperators(++count)
        return askedCondition(name, asked, lists?.get(name) ?? [text])
      }
      if (collection.responseFields.has(name)) throw malformedQuery(notFilterable(name))
      throw unknownParameter(name)
    }
    requireFilterable(field, clientMistakes)
    return equality(name, field, text)
  })
}

// The order of pages without `$sort`.
const defaultOrders = new WeakMap<PublishedCollection, readonly SortField[]>()

/** Returns the sort order of a page: the collection's own without `$sort`, which may name 10 fields. */
export function resolveSort(
  collection: PublishedCollection,
  keys: readonly SortKey[] | undefined,
): readonly SortField[] {
  if (keys === undefined) {
    const known = defaultOrders.get(collection)
    if (known !== undefined) return known
    const order = sortOrder(collection, collection.defaultSort, clientMistakes)
    defaultOrders.set(collection, order)
    return order
  }
  if (keys.length > maxSortKeys) {
    throw malformedQuery(`The parameter $sort may name at most ${maxSortKeys} fields.`)
  }
  return sortOrder(collection, keys, clientMistakes)
}

/**
 * How mistakes of a query are thrown: as a ServiceError if a client made them, as a TypeError if
 * application code did.
 */
export interface QueryMistakes {
  unknownField(collection: PublishedCollection, name: string, parameter: string): Error
  invalid(message: string): Error
}

/** The mistakes of clients: MALFORMED_QUERY. */
export const clientMistakes: QueryMistakes = {
  unknownField: (_, name, parameter) => unknownField(parameter, name),
  invalid: malformedQuery,
}

/** Completes sort keys to a total order. Throws for unknown fields and for those that can't be sorted. */
export function sortOrder(
  collection: PublishedCollection,
  keys: readonly SortKey[],
  mistakes: QueryMistakes,
): readonly SortField[] {
  for (const { field: name } of keys) {
    const field = collection.byName.get(name)
    if (field === undefined && !collection.responseFields.has(name)) {
      throw mistakes.unknownField(collection, name, '$sort')
    }
    if (field?.kind.compare === undefined) {
      throw mistakes.invalid(`The field ${name} cannot be sorted.`)
    }
  }
  const named = new Set(keys.map((key) => key.field))
  const rest = collection.tieBreakers.filter((field) => !named.has(field.name))
  return [...keys, ...rest.map((field) => ({ field: field.name, descending: false }))]
}

/** Throws unless conditions may name the field. */
export function requireFilterable({ name, kind }: PublishedField, mistakes: QueryMistakes): void {
  if (!kind.filterable) throw mistakes.invalid(notFilterable(name))
}

function notFilterable(name: string): string {
  return `The field ${name} cannot be filtered.`
}

/** Returns the page size, between the collection's default and maximum. */
export function resolveLimit(
  collection: PublishedCollection,
  limit: number | undefined,
  rules: PageRules,
): number {
  const { default: standard, maximum } = collection.pageSize
  if (limit === undefined) return standard
  if (limit > maximum && rules.limitExcess === 'reject') {
    throw malformedQuery(`The parameter $limit must be at most ${maximum}.`)
  }
  return Math.min(limit, maximum)
}

/** Returns the names of the stored fields of a page, in definition order. */
export function resolveSelection(
  collection: PublishedCollection,
  fields: readonly string[] | '*' | undefined,
): readonly string[] {
  if (fields === undefined) return collection.defaultNames
  if (fields === '*') return collection.allNames
  for (const name of fields) {
    if (!collection.responseFields.has(name)) throw unknownField('$fields', name)
  }
  return collection.allNames.filter((name) => fields.includes(name))
}

/** Returns the computed fields of a page, in definition order. */
export function resolveComputed(
  { computed }: PublishedCollection,
  fields: readonly string[] | '*' | undefined,
): readonly PublishedComputed[] {
  if (computed.length === 0 || fields === '*') return computed
  return computed.filter(({ name, field }) =>
    fields === undefined ? field.includeByDefault : fields.includes(name),
  )
}
