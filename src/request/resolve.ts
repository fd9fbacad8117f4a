import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { notFound } from '../errors.ts'
import { decodeKey } from '../protocol/key.ts'
import { malformedQuery, unknownField, unknownParameter, type SortKey } from '../protocol/query.ts'
import type { Condition, SortField } from './query.ts'

const maximumSortKeys = 10

/** What a service decides about page sizes (D1). */
export interface PageRules {
  readonly limitExcess: 'clamp' | 'reject'
}

/** The stored values of a raw key; NOT_FOUND when no item can have it (D11). */
export function resolveKey(collection: PublishedCollection, raw: string): readonly StoredValue[] {
  const texts = collection.key.length > 0 ? decodeKey(raw, collection.key.length) : undefined
  if (texts === undefined) throw notFound()
  return collection.key.map((part, index) => {
    const text = texts[index] as string
    if (!part.kind.acceptsText(text, part.definition)) throw notFound()
    return part.kind.storeText(text, part.definition)
  })
}

/** The total order of a sort: the key's fields always come last (D5). */
export function completeSort(
  collection: PublishedCollection,
  keys: readonly SortKey[],
): readonly SortField[] {
  const named = new Set(keys.map((key) => key.field))
  const rest = collection.tieBreakers.filter((field) => !named.has(field.name))
  return [...keys, ...rest.map((field) => ({ field: field.name, descending: false }))]
}

/** The conditions that name an item by its key. */
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

/** Equality conditions: every name looked up, every value typed (D8). */
export function resolveConditions(
  collection: PublishedCollection,
  conditions: ReadonlyMap<string, string>,
): readonly Condition[] {
  if (conditions.size === 0) return []
  return Array.from(conditions, ([name, text]) => {
    const field = collection.byName.get(name)
    if (field === undefined) throw unknownParameter(name)
    const { kind, definition } = field
    if (!kind.filterable) throw malformedQuery(`The field ${name} can not be filtered.`)
    if (text === '') return { field: name, is: 'empty' }
    if (!kind.acceptsText(text, definition)) {
      throw malformedQuery(
        `The parameter ${name} must be ${kind.mustBe(definition)}, in canonical form.`,
      )
    }
    return { field: name, is: 'equal', value: kind.storeText(text, definition) }
  })
}

/** The sort order of a page (D5): the collection's own when the request names none. */
export function resolveSort(
  collection: PublishedCollection,
  keys: readonly SortKey[] | undefined,
): readonly SortField[] {
  if (keys === undefined) return completeSort(collection, collection.defaultSort)
  if (keys.length > maximumSortKeys) {
    throw malformedQuery(`The parameter $sort may name at most ${maximumSortKeys} fields.`)
  }
  for (const { field } of keys) {
    if (known(collection, field, '$sort').kind.compare === undefined) {
      throw malformedQuery(`The field ${field} can not be sorted.`)
    }
  }
  return completeSort(collection, keys)
}

/** The page size, with the collection's default and maximum (D1). */
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

/** The fields of a page, in definition order (D6). */
export function resolveSelection(
  collection: PublishedCollection,
  fields: readonly string[] | '*' | undefined,
): readonly string[] {
  if (fields === undefined) return collection.defaultNames
  if (fields === '*') return collection.allNames
  for (const name of fields) known(collection, name, '$fields')
  return collection.allNames.filter((name) => fields.includes(name))
}

function known(collection: PublishedCollection, name: string, parameter: string): PublishedField {
  const field = collection.byName.get(name)
  if (field === undefined) throw unknownField(parameter, name)
  return field
}
