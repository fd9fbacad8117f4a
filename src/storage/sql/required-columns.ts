import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { folded, groupByTable } from './tables.ts'
import { sharedFields } from './wanted-indexes.ts'

/**
 * Returns whether every row of a table must have a value in the column of a field: all collections that share the table
 * require it. A column with a default of the database is left to the database.
 */
export function needsValue(
  sharing: readonly PublishedCollection[],
  { column }: PublishedField,
): boolean {
  return sharing.every(({ fields }) =>
    fields.some(
      (field) =>
        folded(field.column) === folded(column) && field.required && !field.hasColumnDefault,
    ),
  )
}

/**
 * Returns whether the column of a field is NOT NULL in new tables. Those of a key are, and those that need a value unless
 * they are part of a circle of references: a delete sets such columns to null before it deletes the rows of the circle.
 */
export function isNotNull(sharing: readonly PublishedCollection[], field: PublishedField): boolean {
  const own = folded(field.column)
  const fields = sharing.flatMap((collection) => collection.fields)
  if (fields.some(({ inKey, column }) => inKey && folded(column) === own)) return true
  if (!needsValue(sharing, field)) return false
  return !sharing
    .flatMap(({ references }) => references)
    .filter((reference) => reference.fields.some(({ column }) => folded(column) === own))
    .some(isInCircle)
}

function isInCircle({ from, to }: Reference): boolean {
  const own = folded(from.table)
  const found = new Set<PublishedCollection>([to])
  // A set is read to its end, also where it grows meanwhile.
  for (const { references, table } of found) {
    if (folded(table) === own) return true
    for (const reference of references) found.add(reference.to)
  }
  return false
}

/**
 * Returns the value that rows without one get: the default of the field, if it is a constant. Undefined: there is none,
 * or only one of the rows could have it.
 */
export function constantFor(
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  rows: number,
): NonNullable<StoredValue> | undefined {
  const declared: unknown = field.definition.default
  if (declared === undefined || declared === null || typeof declared === 'function')
    return undefined
  const own = folded(field.column)
  const isUnique = sharing
    .flatMap(({ uniques }) => uniques)
    .some((group) => group.every(({ column }) => folded(column) === own))
  return isUnique && rows > 1 ? undefined : (field.accept(declared) ?? undefined)
}

/** The part of a table that is needed to count its rows. */
interface CountedTable {
  readonly kind: string
  readonly name: string
  /** Returns a column by its name. */
  find(name: string): { readonly name: string; readonly notNull: boolean } | undefined
}

/** The rows of a table without a value of columns that need one. */
export interface ValueCounts {
  /** The statement that counts them, one column for each of `columns`. */
  readonly statement: string
  /** The keys of {@link Lacking}. */
  readonly columns: readonly string[]
}

/**
 * Returns how the rows without required values are counted in existing tables: all rows of a table that lacks the column,
 * otherwise those with null. Tables and columns that wait to be renamed are known by their former names.
 */
export function valueCounts(
  collections: readonly PublishedCollection[],
  find: (name: string) => CountedTable | undefined,
  quoted: (name: string) => string,
): readonly ValueCounts[] {
  return Array.from(groupByTable(collections).values()).flatMap((sharing) => {
    const [{ table, definition }] = sharing as readonly [PublishedCollection]
    const found = find(table) ?? find(definition.renamedFrom ?? table)
    if (found?.kind !== 'table') return []
    const counted = Array.from(sharedFields(sharing).values())
      .filter((field) => !field.inKey && needsValue(sharing, field))
      .map((field) => {
        const { column, definition: own } = field
        return { column, present: found.find(column) ?? found.find(own.renamedFrom ?? column) }
      })
      .filter(({ present }) => present?.notNull !== true)
    if (counted.length === 0) return []
    const sums = counted.map(({ present }) =>
      present === undefined
        ? 'count(*)'
        : `coalesce(sum(CASE WHEN ${quoted(present.name)} IS NULL THEN 1 ELSE 0 END), 0)`,
    )
    return [
      {
        statement: `SELECT ${sums.join(', ')} FROM ${quoted(found.name)}`,
        columns: counted.map(({ column }) => keyOf(table, column)),
      },
    ]
  })
}

/** Returns the number of rows of a table, by its name in the definition, that lack a value of a column that needs one. */
export type Lacking = (table: string, column: string) => number

/** Returns the counts of rows that were read. */
export function lackingOf(
  counts: readonly ValueCounts[],
  found: readonly (readonly unknown[])[],
): Lacking {
  const rows = new Map(
    counts.flatMap(({ columns }, index) =>
      columns.map((key, at) => [key, Number(found[index]?.[at] ?? 0)] as const),
    ),
  )
  return (table, column) => rows.get(keyOf(table, column)) ?? 0
}

/** No row of any table lacks a value. */
export const nothingLacks: Lacking = () => 0

function keyOf(table: string, column: string): string {
  return `${folded(table)}\0${folded(column)}`
}
