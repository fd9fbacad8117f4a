import { sql } from 'kysely'
import type { PublishedField } from '../../definition/published.ts'
import { columnTypeOf, type Sql } from './columns.ts'
import { fitCondition, furtherCondition, storageClassOf } from './forms.ts'
import { quoted } from './schema.ts'

/** The fields whose columns can't hold a value that does not fit, so that a read needs no check. */
export type Guaranteed = ReadonlySet<PublishedField>

/** A column of a field, in the given table alias. */
export function columnOf(alias?: string): (field: PublishedField) => Sql {
  return alias === undefined
    ? (field) => sql.id(field.column)
    : (field) => sql.id(alias, field.column)
}

/**
 * The values of a row. In place of one that does not fit its field comes a blob that describes it: the
 * drivers return blobs as bytes, which no field has.
 */
export function readAll(
  fields: readonly PublishedField[],
  guaranteed: Guaranteed,
  alias?: string,
): Sql {
  if (fields.length === 0) return sql`null`
  const column = columnOf(alias)
  return sql.join(
    fields.map((field, index) => {
      const read = columnTypeOf(field).read(column(field))
      const guard = guardOf(field, guaranteed, alias)
      const value =
        guard === undefined
          ? read
          : sql`case when ${guard} then ${read} else ${description(field, column)} end`
      return sql`${value} as ${sql.id(`c${index}`)}`
    }),
  )
}

/**
 * The number of bytes of each stored text, after the values of a row: it reveals text that is not UTF-8.
 * Null for other fields, and in a database that keeps texts in UTF-16.
 */
export function readLengths(fields: readonly PublishedField[], alias?: string): Sql {
  const column = columnOf(alias)
  const isUtf8 = sql`length(cast('a' as blob)) = 1`
  const lengths = fields.map((field, index) => {
    const length = isText(field)
      ? sql`case when ${isUtf8} then length(cast(${column(field)} as blob)) end`
      : sql`null`
    return sql`, ${length} as ${sql.id(`n${index}`)}`
  })
  return sql.join(lengths, sql``)
}

function isText(field: PublishedField): boolean {
  return storageClassOf(field) === 'text'
}

/** The JSON text of a row; null when a value does not fit its field. */
export function jsonObject(
  fields: readonly PublishedField[],
  guaranteed: Guaranteed,
  alias?: string,
): Sql {
  const column = columnOf(alias)
  const members = fields.map((field) => {
    const value = columnTypeOf(field).json?.(column(field)) ?? sql`null`
    return sql`${sql.lit(field.name)}, ${value}`
  })
  const object = sql`json_object(${sql.join(members)})`
  const guards = fields
    .map((field) => guardOf(field, guaranteed, alias))
    .filter((guard) => guard !== undefined)
  return guards.length === 0
    ? object
    : sql`case when ${sql.join(guards, sql` and `)} then ${object} end`
}

function guardOf(field: PublishedField, guaranteed: Guaranteed, alias?: string): Sql | undefined {
  const column = `${alias === undefined ? '' : `${quoted(alias)}.`}${quoted(field.column)}`
  const condition = (guaranteed.has(field) ? furtherCondition : fitCondition)(
    column,
    field.definition,
  )
  if (condition === undefined) return undefined
  return sql.raw(field.inKey ? `(${condition})` : `(${column} IS NULL OR ${condition})`)
}

// Only a key's value is shown in reports: to find the row.
function description(field: PublishedField, column: (field: PublishedField) => Sql): Sql {
  const value = column(field)
  const text = field.inKey ? sql`substr(quote(${value}), 1, 100)` : sql`typeof(${value})`
  return sql`cast(${text} as blob)`
}
