import { isWithinBounds } from '../../../definition/field-type.ts'
import type { PublishedField } from '../../../definition/published-field.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import { columnTypeOf } from '../statements/columns.ts'
import type { SqliteRow, SqliteValue } from '../connection/connection.ts'
import { fitCondition, furtherCondition, storageClassOf } from '../forms/forms.ts'
import {
  grouped,
  identifier,
  join,
  literal,
  raw,
  quoted,
  sql,
  type Sql,
} from '../../sql/fragments.ts'

/**
 * What a column guarantees, so that a read does not check it. `stored`: no expression computes its values, which
 * SQLite may mark as JSON. `no-number`: besides, it contains no numbers, because SQLite stores those as strings,
 * and no null if it is in the key. `fit`: it contains only values that fit.
 */
export type Guarantee = 'stored' | 'no-number' | 'fit'

/** What the columns of fields guarantee. */
export type Guaranteed = ReadonlyMap<PublishedField, Guarantee>

/** Returns a function from a field to its column, with an optional table alias. */
export function columnOf(alias?: string): (field: PublishedField) => Sql {
  return alias === undefined
    ? (field) => identifier(field.column)
    : (field) => identifier(alias, field.column)
}

/**
 * Returns the expressions that read a row. A value that does not fit is replaced with a blob that
 * describes it: drivers return blobs as bytes, and no field has bytes. Unless `checksAll` is set, `readRow`
 * checks the strings of TEXT columns instead, which takes a fifth of the time.
 */
export function readAll(
  fields: readonly PublishedField[],
  { guaranteed, checksAll }: { readonly guaranteed: Guaranteed; readonly checksAll: boolean },
  alias?: string,
): Sql {
  if (fields.length === 0) return sql`null`
  const column = columnOf(alias)
  const isReadAsIs = (field: PublishedField): boolean =>
    !checksAll && isString(field) && guaranteed.get(field) === 'no-number'
  return join(
    fields.map((field, index) => {
      const read = columnTypeOf(field).read(column(field))
      const guard = isReadAsIs(field) ? undefined : guardOf(field, guaranteed, alias)
      const value =
        guard === undefined
          ? read
          : sql`case when ${guard} then ${read} else ${description(field, column)} end`
      return sql`${value} as ${identifier(`c${index}`)}`
    }),
  )
}

/**
 * Returns the expressions that read the byte length of each stored string, which reveals invalid UTF-8.
 * Null for other fields, and in a database with the encoding UTF-16.
 */
export function readLengths(fields: readonly PublishedField[], alias?: string): Sql {
  const column = columnOf(alias)
  const isUtf8 = sql`length(cast('a' as blob)) = 1`
  const lengths = fields.map((field) =>
    isText(field)
      ? sql`case when ${isUtf8} then length(cast(${column(field)} as blob)) end`
      : sql`null`,
  )
  if (fields.length > maxLengths) {
    const texts = lengths.map((length) => sql`coalesce(${length}, '')`)
    return sql`, ${grouped(texts, sql` || ',' || `)} as ${identifier('n0')}`
  }
  const named = lengths.map((length, index) => sql`, ${length} as ${identifier(`n${index}`)}`)
  return join(named, sql``)
}

// A statement of SQLite returns 2,000 columns at most. The lengths of a wide table are one string.
const maxLengths = 990

/** Returns the byte length of a string of a row, see {@link readLengths}. */
export function lengthAt(values: SqliteRow, fields: number, index: number): SqliteValue {
  if (fields <= maxLengths) return values[fields + index] ?? null
  const length = String(values[fields]).split(',')[index]
  return length === '' ? null : Number(length)
}

function isText(field: PublishedField): boolean {
  return storageClassOf(field.definition) === 'text'
}

/**
 * Returns the expression of the JSON text of a row. It is null if a value does not fit its field, except for
 * a string with U+0000, which JSON escapes, and for JSON that exceeds the bounds of json fields: {@link fitsAsText}
 * finds them.
 */
export function jsonObject(
  fields: readonly PublishedField[],
  guaranteed: Guaranteed,
  alias?: string,
): Sql {
  const column = columnOf(alias)
  const members = fields.map((field) => {
    const own = column(field)
    const stored = mayBeMarked(field, guaranteed) ? unmarked(own) : own
    const value = columnTypeOf(field).json?.(stored) ?? sql`null`
    return sql`${literal(field.name)}, ${value}`
  })
  const object = sql`json_object(${join(members)})`
  const isCompared = (field: PublishedField): boolean =>
    isString(field) && guaranteed.get(field) !== 'fit'
  const misfits = fields
    .filter(isCompared)
    .map((field) => notText(field, column(field), guaranteed))
  const guards = fields
    .filter((field) => !isCompared(field))
    .map((field) => guardOf(field, guaranteed, alias))
    .filter((guard) => guard !== undefined)
  if (misfits.length === 0 && guards.length === 0) return object
  const unfit = misfits.length === 0 ? sql`` : sql`when ${join(misfits, sql` or `)} then null `
  const fit = guards.length === 0 ? sql`else` : sql`when ${join(guards, sql` and `)} then`
  return sql`case ${unfit}${fit} ${object} end`
}

/** Returns whether the JSON text of a row, read with {@link jsonObject}, has only values that fit. */
export function fitsAsText({ hasJson }: PublishedCollection, item: string): boolean {
  // Drivers replace invalid UTF-8 with U+FFFD. A string may also contain the characters \u0000 themselves.
  if (item.includes('\ufffd') || item.includes('\\u0000')) return false
  // SQLite finds JSON valid that no request could contain.
  return !hasJson || isWithinBounds(item, 1)
}

// A computed column or a view may return a string that SQLite marks as JSON (the subtype of json_extract, -> and others).
// json_object would include it as JSON, and not as a string.
function mayBeMarked(field: PublishedField, guaranteed: Guaranteed): boolean {
  return isText(field) && field.type !== 'json' && !guaranteed.has(field)
}

/** Returns a string without the mark of JSON. A cast does not remove it. */
export function unmarked(text: Sql): Sql {
  return sql`(${text} || '')`
}

function isString({ type }: PublishedField): boolean {
  return type === 'text'
}

// Numbers sort before the empty string, and blobs after all strings. Comparing costs a fifth of what
// typeof() and instr() do, and these two take a third of the time of a page.
function notText(field: PublishedField, column: Sql, guaranteed: Guaranteed): Sql {
  const blob = sql`${column} collate binary >= x''`
  if (guaranteed.get(field) === 'no-number') return blob
  const misfit = sql`${blob} or ${column} collate binary < ''`
  return field.inKey ? sql`${column} is null or ${misfit}` : misfit
}

function guardOf(field: PublishedField, guaranteed: Guaranteed, alias?: string): Sql | undefined {
  const column = `${alias === undefined ? '' : `${quoted(alias)}.`}${quoted(field.column)}`
  const condition = (guaranteed.get(field) === 'fit' ? furtherCondition : fitCondition)(
    column,
    field.definition,
  )
  if (condition === undefined) return undefined
  return raw(field.inKey ? `(${condition})` : `(${column} IS NULL OR ${condition})`)
}

// Reports contain values of keys only, to identify the row.
function description(field: PublishedField, column: (field: PublishedField) => Sql): Sql {
  const value = column(field)
  const text = field.inKey ? sql`substr(quote(${value}), 1, 100)` : sql`typeof(${value})`
  return sql`cast(${text} as blob)`
}
