import type { FieldTypeName } from '../definition/field.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'

/** The simplest possible storage: a list of rows. */
export interface Model {
  rows: readonly Row[]
  /** Returns the rows of a collection that conditions go through. */
  readonly rowsOf: (collection: PublishedCollection) => readonly Row[]
}

/** Returns the page that a filter of the rows must return. */
export function expectedPage(
  model: Model,
  collection: PublishedCollection,
  query: StorageQuery,
): { readonly rows: readonly Row[]; readonly count: number | null } {
  const found = model.rows.filter(
    (row) => meets(model, collection, row, query.conditions) && contains(row, query.search),
  )
  const sorted = found.toSorted((left, right) => {
    const differences = query.sort.map(({ field, descending }) => {
      const [a, b] = [rank(collection, field, left), rank(collection, field, right)]
      const difference = a < b ? -1 : a > b ? 1 : 0
      return descending ? -difference : difference
    })
    return differences.find((difference) => difference !== 0) ?? 0
  })
  return {
    rows: sorted.slice(query.offset, query.offset + query.limit),
    count: query.count ? found.length : null,
  }
}

/** Whether a row meets all conditions. */
export function meets(
  model: Model,
  collection: PublishedCollection,
  row: Row,
  conditions: readonly Condition[],
): boolean {
  const isMet = (condition: Condition): boolean => {
    if (condition.is === 'and') return condition.conditions.every(isMet)
    if (condition.is === 'or') return condition.conditions.some(isMet)
    if (condition.is === 'not') return !isMet(condition.condition)
    if (condition.is === 'through') {
      const { collection: other, fields } = condition
      const parent = model
        .rowsOf(other)
        .find((one) => other.key.every(({ name }, at) => one[name] === row[fields[at] as string]))
      return parent !== undefined && meets(model, other, parent, condition.conditions)
    }
    const value = row[condition.field] ?? null
    if (condition.is === 'equal') return value === condition.value
    if (condition.is === 'empty') return value === null || value === ''
    if (value === null) return false
    if (condition.is === 'in') return condition.values.some((one) => one === value)
    if (condition.is === 'contains') return String(value).includes(condition.text)
    if (condition.is === 'startsWith') return String(value).startsWith(condition.text)
    const other = { [condition.field]: condition.value }
    const [a, b] = [row, other].map((one) => rank(collection, condition.field, one)) as [
      string,
      string,
    ]
    if (a === b) return condition.is === 'lte' || condition.is === 'gte'
    return a < b === condition.is.startsWith('lt')
  }
  return conditions.every(isMet)
}

function contains(row: Row, search: StorageQuery['search']): boolean {
  if (search === null) return true
  // Simple folding is enough: the sequences have no letter whose lower case depends on its neighbors.
  const texts = search.fields.map((field) => row[field] ?? null).filter((value) => value !== null)
  return texts.some((value) => String(value).toLowerCase().includes(search.text))
}

// Returns a string that sorts as the value does: null, then numbers by value, or strings by code point.
function rank(collection: PublishedCollection, field: string, row: Row): string {
  const value = row[field] ?? null
  if (value === null) return '0'
  const type = collection.byName.get(field)?.type ?? 'text'
  return `1${ranks[type](value)}`
}

const ranks: Readonly<Record<FieldTypeName, (value: StoredValue) => string>> = {
  text: codePoints,
  integer: numberRank,
  bigint: numberRank,
  decimal: numberRank,
  double: codePoints,
  boolean: codePoints,
  date: codePoints,
  time: codePoints,
  dateTime: codePoints,
  // Without its Z, an instant with a fraction sorts after the one without.
  instant: (value) => codePoints(String(value).slice(0, -1)),
  uuid: codePoints,
  json: codePoints,
}

function numberRank(value: StoredValue): string {
  const scaled = BigInt(String(value).replace('.', '')) + 10n ** 40n
  return scaled.toString().padStart(41, '0')
}

function codePoints(value: StoredValue): string {
  return Array.from(String(value), (one) =>
    (one.codePointAt(0) ?? 0).toString(16).padStart(6, '0'),
  ).join('')
}
