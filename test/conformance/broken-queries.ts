import type { PublishedField } from '../../src/definition/published-field.ts'
import type { PublishedCollection } from '../../src/definition/published.ts'
import { meetsAll } from '../../src/request/meets.ts'
import type { Condition, Row, StoragePage, StorageQuery } from '../../src/storage/adapter.ts'

/** Returns a condition with every field condition in it changed. */
export function changedCondition(
  condition: Condition,
  change: (condition: Condition) => Condition,
): Condition {
  switch (condition.is) {
    case 'and':
    case 'or': {
      const conditions = condition.conditions.map((one) => changedCondition(one, change))
      return change({ is: condition.is, conditions })
    }
    case 'not':
      return change({ is: 'not', condition: changedCondition(condition.condition, change) })
    default:
      return change(condition)
  }
}

type Value = Row[string] | undefined

const folds = {
  case: (text: string) => text.toLowerCase(),
  spaces: (text: string) => text.trimEnd(),
  'normal forms': (text: string) => text.normalize(),
  numbers: (text: string) => (Number.isNaN(Number(text)) ? text : String(Number(text))),
}

type Lenience =
  | keyof typeof folds
  | 'empty is null'
  | 'null is empty'
  | 'any'
  | 'wildcards'
  | 'exact search'
  | 'no accents'
  | 'all fields'

/** Returns a page of the rows that match the query leniently. */
export function lenient(
  how: Lenience,
  collection: PublishedCollection,
  rows: readonly Row[],
  query: StorageQuery,
): StoragePage {
  const found = rows.filter(
    (row) => meets(how, collection, row, query) && contains(how, row, query),
  )
  const count = query.count ? found.length : null
  return { rows: found.slice(query.offset, query.offset + query.limit), count }
}

function meets(
  how: Lenience,
  collection: PublishedCollection,
  row: Row,
  { conditions }: StorageQuery,
): boolean {
  const one = (condition: Condition): boolean => {
    if (condition.is !== 'equal' && condition.is !== 'empty') {
      return meetsAll(collection, row, [condition])
    }
    const value = row[condition.field] ?? null
    if (condition.is === 'empty') return value === null || (value === '' && how !== 'null is empty')
    if (how === 'empty is null' && condition.value === null) return value === null || value === ''
    if (!(how in folds)) return value === condition.value
    const fold = folds[how as keyof typeof folds]
    return typeof value === 'string' && typeof condition.value === 'string'
      ? fold(value) === fold(condition.value)
      : value === condition.value
  }
  return how === 'any' && conditions.length > 0 ? conditions.some(one) : conditions.every(one)
}

function contains(how: Lenience, row: Row, { search }: StorageQuery): boolean {
  if (search === null) return true
  const fields = how === 'all fields' ? Object.keys(row) : search.fields
  const values = fields.map((field) => row[field] ?? null).filter((value) => value !== null)
  return values.some((value) => finds(how, String(value), search.text))
}

function finds(how: Lenience, value: string, text: string): boolean {
  if (how === 'exact search') return value.includes(text)
  const folded = value.replaceAll('Σ', 'σ').toLowerCase()
  if (how === 'wildcards') {
    const pattern = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('%', '.*')
    return new RegExp(pattern.replaceAll('_', '.'), 'su').test(folded)
  }
  if (how !== 'no accents') return folded.includes(text)
  const bare = (one: string): string => one.normalize('NFD').replace(/\p{Mn}/gu, '')
  return bare(folded).includes(bare(text))
}

type Disorder = 'null last' | 'locale' | 'UTF-16' | 'strings' | 'doubles' | 'first field'

/** Returns the rows in a wrong order that a database may return. */
export function reordered(
  how: Disorder,
  rows: readonly Row[],
  query: StorageQuery,
  { byName }: PublishedCollection,
): readonly Row[] {
  const sort = how === 'first field' ? query.sort.slice(0, 1) : query.sort
  // Equal rows may come in any order, such as the reverse one.
  return rows.toReversed().toSorted((left, right) => {
    for (const { field, descending } of sort) {
      const difference = compare(how, byName.get(field) as PublishedField, [
        left[field],
        right[field],
      ])
      if (difference !== 0) return descending ? -difference : difference
    }
    return 0
  })
}

function compare(
  how: Disorder,
  { kind, type }: PublishedField,
  [left = null, right = null]: readonly [Value, Value],
): number {
  if (left === right) return 0
  if (left === null || right === null) {
    return (left === null ? -1 : 1) * (how === 'null last' ? -1 : 1)
  }
  const isText = type === 'text'
  const isExact = type === 'bigint' || type === 'decimal'
  if (how === 'locale') return String(left).localeCompare(String(right))
  if (how === 'doubles' && type === 'decimal') return Number(left) - Number(right)
  if ((how === 'UTF-16' && isText) || (how === 'strings' && isExact)) return left < right ? -1 : 1
  return kind.compare?.(left, right) ?? 0
}

/** Returns the JSON text of the item of each row. */
export function textsOf(
  collection: PublishedCollection,
  page: StoragePage,
  names: readonly string[],
): readonly string[] {
  const items = page.rows.map((row) =>
    Object.fromEntries(
      names.map((name) => [name, collection.byName.get(name)?.show(row[name] ?? null)]),
    ),
  )
  return items.map((item) => JSON.stringify(item))
}
