import { parameters } from '../../protocol/query.ts'
import type { ApplicationDefinition } from '../application.ts'
import { keyNamesOf, type CollectionDefinition } from '../collection.ts'
import { fieldOf, type Field } from '../field.ts'
import { fieldTypes } from '../field-type.ts'
import { maxListedMistakes, type Mistake } from '../../checks/mistakes.ts'
import { listed } from '../../checks/nearest-name.ts'
import { isSearched } from '../published-field.ts'

/** Returns the mistakes in the page options of a well-formed collection. */
export function pageMistakes(
  collection: CollectionDefinition,
  maxPageSize: number,
): readonly Mistake[] {
  return [
    ...sizeMistakes(collection, maxPageSize),
    ...sortMistakes(collection),
    ...filterMistakes(collection),
    ...titleMistakes(collection),
    ...itemMistakes(collection),
    ...cursorMistakes(collection),
    ...searchMistakes(collection),
  ]
}

function sizeMistakes({ pageSize }: CollectionDefinition, limit: number): readonly Mistake[] {
  const maximum = pageSize?.maximum ?? limit
  if (maximum > limit) {
    const advice = `must be at most ${limit}; raise the service's maxPageSize first`
    return [{ place: 'pageSize.maximum', advice }]
  }
  if ((pageSize?.default ?? 0) <= maximum) return []
  return [{ place: 'pageSize.default', advice: `must be at most the maximum, ${maximum}` }]
}

function sortMistakes({ defaultSort, fields }: CollectionDefinition): readonly Mistake[] {
  if (defaultSort === undefined) return []
  const keys = parameters.sort.decode(defaultSort.join(','))
  if (keys === undefined) return [{ place: 'defaultSort', advice: parameters.sort.rule }]
  const sortable = (found: Field): boolean =>
    fieldTypes[found.type].compare !== undefined && found.itemOnly !== true
  const names = keys.map(({ field }) => field)
  return fieldMistakes(fields, names, 'defaultSort', sortable)
}

function filterMistakes({
  requiredFilters = [],
  fields,
}: CollectionDefinition): readonly Mistake[] {
  const filterable = (found: Field): boolean =>
    fieldTypes[found.type].filterable && found.itemOnly !== true
  return fieldMistakes(fields, requiredFilters, 'requiredFilters', filterable)
}

function titleMistakes({ titleField, fields }: CollectionDefinition): readonly Mistake[] {
  if (titleField === undefined) return []
  const isShort = (found: Field): boolean => found.type !== 'json' && found.itemOnly !== true
  return fieldMistakes(fields, [titleField], 'titleField', isShort)
}

function fieldMistakes(
  fields: CollectionDefinition['fields'],
  names: readonly string[],
  place: string,
  isFit: (field: Field) => boolean,
): readonly Mistake[] {
  const unfit = names.filter((name) => {
    const field = fieldOf(fields, name)
    return field === undefined || !isFit(field)
  })
  return unfit.slice(0, maxListedMistakes).map((name) => {
    const advice =
      fieldOf(fields, name) === undefined
        ? `${name} is not a field; the fields are ${listed(Object.keys(fields))}`
        : `${name} cannot be used here because of its type or itemOnly`
    return { place, advice }
  })
}

function itemMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { key, fields, singleton } = collection
  const mistakes: Mistake[] = []
  if (singleton === true && key !== undefined) {
    const advice = 'leave it out: a singleton has no key'
    mistakes.push({ place: 'key', advice })
  }
  for (const name of keyNamesOf(collection)) {
    if (fields[name]?.itemOnly !== true) continue
    const advice = 'leave it out: pages are ordered by the key'
    mistakes.push({ place: `fields.${name}.itemOnly`, advice })
  }
  return mistakes
}

function cursorMistakes({ cursor, key, events }: CollectionDefinition): readonly Mistake[] {
  if (cursor !== true) return []
  const mistakes: Mistake[] = []
  if (key === undefined) {
    const advice =
      'needs a key, so that no two items have the same position: declare one, or leave it out'
    mistakes.push({ place: 'cursor', advice })
  }
  if (events?.Filter?.after !== undefined) {
    const advice =
      'cannot be used with events.Filter.after: a cursor contains the values by which a page is sorted, which the handler may change'
    mistakes.push({ place: 'cursor', advice })
  }
  return mistakes
}

function searchMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { search, fields } = collection
  if (search === undefined) return []
  if (keyNamesOf(collection).length === 0) {
    return [{ place: 'search', advice: 'an index needs a key: declare one, or leave it out' }]
  }
  // The text of a double is written in another form by each database.
  if (Object.values(fields).some((field) => field.type !== 'double' && isSearched(field))) return []
  return [{ place: 'search', advice: '$q searches no field that an index can have: leave it out' }]
}

/**
 * Returns a mistake for each field of `defaultSort`, `requiredFilters` and `concurrency` that some caller of Filter can't
 * read: the order of a page and the tag of an item would reveal its values, and such a caller can't filter by it.
 */
export function unreadableOrder(
  { roles }: Pick<ApplicationDefinition, 'roles'>,
  collection: CollectionDefinition,
): readonly Mistake[] {
  const { defaultSort = [], requiredFilters = [], concurrency, fields } = collection
  const callers = [roles, collection.roles, collection.eventRoles?.Filter].map(
    (list) => list && [...new Set(list)],
  )
  const isReadable = (name: string): boolean => {
    const given = fieldOf(fields, name)?.readableBy
    if (given === undefined) return true
    const readers = new Set(given)
    // A caller has one role of each list, so one list that contains only readers is enough.
    return callers.some((list) => list?.every((role) => readers.has(role)))
  }
  const sorted = parameters.sort.decode(defaultSort.join(',')) ?? []
  const named = [
    ...sorted.map(({ field }) => ['defaultSort', field] as const),
    ...[...new Set(requiredFilters)].map((field) => ['requiredFilters', field] as const),
    ...(concurrency?.version === undefined
      ? []
      : [['concurrency.version', concurrency.version] as const]),
  ]
  return named
    .filter(([, field]) => !isReadable(field))
    .map(([place, field]) => ({
      place,
      advice: `${field} cannot be used here: some callers of Filter cannot read it (readableBy)`,
    }))
}
