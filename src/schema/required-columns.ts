import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { folded, groupByTable } from './model.ts'
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
        field.required && !field.hasColumnDefault && folded(field.column) === folded(column),
    ),
  )
}

/**
 * Returns whether the column of a field is NOT NULL in new tables. Those of a key are, and those that need a value unless
 * they are part of a circle of references: a delete sets such columns to null before it deletes the rows of the circle.
 */
export function isNotNull(sharing: readonly PublishedCollection[], field: PublishedField): boolean {
  const own = folded(field.column)
  const isOwnKey = ({ inKey, column }: PublishedField): boolean => inKey && folded(column) === own
  if (sharing.some(({ fields }) => fields.some(isOwnKey))) return true
  if (!needsValue(sharing, field)) return false
  return !sharing
    .flatMap(({ references }) => references)
    .filter((reference) => reference.fields.some(({ column }) => folded(column) === own))
    .some(isInCircle)
}

/**
 * Returns whether the definition allows null in a column: one of its fields does, or a collection that inserts rows has no
 * field for it.
 */
export function mayBeNull(
  sharing: readonly PublishedCollection[],
  fields: readonly PublishedField[],
): boolean {
  const isNullable = ({ required, inKey, readOnly, hasColumnDefault }: PublishedField): boolean =>
    !required && !inKey && !readOnly && !hasColumnDefault
  if (fields.some(isNullable)) return true
  const isLeftOut = sharing.some(
    (one) => one.publishes.has('Insert') && !one.fields.some((field) => fields.includes(field)),
  )
  return isLeftOut && fields.some(({ required, inKey }) => required && !inKey)
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

/** The tables whose rows are counted, by the names of collections. */
interface CountedTables {
  find(name: string): CountedTable | undefined
  /** Returns the same string for names that mean the same table. */
  identityOf(name: string): string
}

/** How the rows of a table without required values are counted. */
export interface ValueCounts {
  /** The statement that counts them: one column for each of `columns`. */
  readonly statement: string
  readonly columns: readonly { readonly key: string; readonly isPresent: boolean }[]
}

/**
 * Returns how the rows without required values are counted in existing tables: all rows of a table that lacks the column,
 * otherwise those with null. Tables and columns that wait to be renamed are known by their former names.
 *
 * @param of which columns: all (default), or only those that tables lack
 */
export function valueCounts(
  collections: readonly PublishedCollection[],
  { find, identityOf }: CountedTables,
  quoted: (name: string) => string,
  of: 'all' | 'absent' = 'all',
): readonly ValueCounts[] {
  return Array.from(groupByTable(collections, identityOf).values()).flatMap((sharing) => {
    const [{ table, definition }] = sharing as readonly [PublishedCollection]
    const found = find(table) ?? find(definition.renamedFrom ?? table)
    if (found?.kind !== 'table') return []
    const counted = Array.from(sharedFields(sharing).values())
      .filter((field) => !field.inKey && needsValue(sharing, field))
      .map(({ column, definition: { renamedFrom = column } }) => ({
        key: keyOf(table, column),
        present: found.find(column) ?? found.find(renamedFrom),
      }))
      .filter(({ present }) => present?.notNull !== true)
      .filter(({ present }) => present === undefined || of === 'all')
    if (counted.length === 0) return []
    const sums = counted.map(({ present }) =>
      present === undefined
        ? 'count(*)'
        : `coalesce(sum(CASE WHEN ${quoted(present.name)} IS NULL THEN 1 ELSE 0 END), 0)`,
    )
    return [
      {
        statement: `SELECT ${sums.join(', ')} FROM ${quoted(found.name)}`,
        columns: counted.map(({ key, present }) => ({ key, isPresent: present !== undefined })),
      },
    ]
  })
}

/** The rows that lack a value of a column. */
export interface LackingRows {
  readonly rows: number
  /** Whether their table has the column. */
  readonly isPresent: boolean
}

/** Returns the rows of a table, by its name in the definition, that lack a value of a column that needs one. */
export type Lacking = (table: string, column: string) => LackingRows

/** Returns the counts of rows that were read. */
export function lackingOf(
  counts: readonly ValueCounts[],
  found: readonly (readonly unknown[] | undefined)[],
): Lacking {
  const known = new Map(
    counts.flatMap(({ columns }, index) =>
      columns.map(({ key, isPresent }, at) => {
        return [key, { rows: Number(found[index]?.[at] ?? 0), isPresent }] as const
      }),
    ),
  )
  return (table, column) => known.get(keyOf(table, column)) ?? noRows
}

const noRows: LackingRows = { rows: 0, isPresent: true }

/** No row of any table lacks a value. */
export const nothingLacks: Lacking = () => noRows

function keyOf(table: string, column: string): string {
  return `${table}\0${folded(column)}`
}

/** A column of a required field without a value in some rows. */
export interface LackingColumn {
  readonly sharing: readonly PublishedCollection[]
  readonly field: PublishedField
  readonly rows: number
}

/** Returns the name of a field as `--fill` takes it. */
export function fillName({ sharing, field }: LackingColumn): string {
  const own = sharing.find(({ fields }) => fields.includes(field))
  return `${own?.name ?? ''}.${field.name}`
}

/** Returns the statement that writes a value into the rows of a table that have none. */
export function fillStatement(
  quoted: (name: string) => string,
  [table, column]: readonly [table: string, column: string],
  literal: string,
): string {
  return `UPDATE ${quoted(table)} SET ${quoted(column)} = ${literal} WHERE ${quoted(column)} IS NULL;`
}

/** How a database writes the rows of a table without a value. */
export interface FillText {
  quoted(name: string): string
  /** Returns the same string for names that mean the same table. */
  identityOf(name: string): string
  /** Returns the name of a table in the database. */
  tableName(name: string): string
  /** Returns the SQL of a value in a new column of a field. */
  literal(field: PublishedField, value: NonNullable<StoredValue>): string | undefined
}

/** A column that tables lack, and the statement that writes a value into their rows; without one, none is known. */
export interface UnfilledColumn extends LackingColumn {
  readonly statement?: string
}

/** Returns the columns of required fields that tables with rows lack. */
export function unfilledColumns(
  collections: readonly PublishedCollection[],
  lacking: Lacking,
  { quoted, identityOf, tableName, literal }: FillText,
): readonly UnfilledColumn[] {
  if (lacking === nothingLacks) return []
  return Array.from(groupByTable(collections, identityOf).values()).flatMap((sharing) =>
    Array.from(sharedFields(sharing).values()).flatMap((field): readonly UnfilledColumn[] => {
      const [{ table }] = sharing as readonly [PublishedCollection]
      const { rows, isPresent } = lacking(table, field.column)
      if (rows === 0 || isPresent) return []
      const value = constantFor(sharing, field, rows)
      const written = value === undefined ? undefined : literal(field, value)
      const column = { sharing, field, rows }
      if (written === undefined) return [column]
      const place = [tableName(table), field.column] as const
      return [{ ...column, statement: fillStatement(quoted, place, written) }]
    }),
  )
}

/** Returns the mistake of a new required field for which the rows of a table have no value. */
export function unfilledMistake({ sharing, field, rows }: LackingColumn): string {
  const [{ application, table }] = sharing as readonly [PublishedCollection]
  const name = fillName({ sharing, field, rows })
  const have = rows === 1 ? '1 row has' : `${rows} rows have`
  return `${application}/${name}: ${have} no value of this new required field in table "${table}". Give the field a constant default, leave out required, or add the column with rowgate schema apply --fill ${name}=<value>, or --allow nulls.`
}
