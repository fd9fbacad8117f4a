import type { Field } from '../../definition/field.ts'
import { raw, sql, type Sql } from '../sql/fragments.ts'
import type { Column } from '../sql/tables.ts'

/**
 * Returns the condition that a value of a column, other than null, is one of its field. Undefined: the type of the
 * column allows no other values.
 */
export function fitTerm(
  column: Sql,
  { base }: Pick<Column, 'base'>,
  field: Field,
): Sql | undefined {
  switch (field.type) {
    case 'integer':
      if (base !== 'int8') return undefined
      return sql`${column} between ${raw(`${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)}`
    case 'decimal': {
      if (base !== 'numeric') return undefined
      // NaN is larger than all numbers.
      const bound = raw(`1e${field.precision - field.scale}`)
      return sql`abs(${column}) < ${bound} and ${column} = round(${column}, ${raw(`${field.scale}`)})`
    }
    case 'double':
      return sql`${column} > '-Infinity' and ${column} < 'Infinity'`
    case 'date':
    case 'dateTime':
    case 'instant':
      return sql`${column} >= '0001-01-01' and ${column} < '10000-01-01'`
    default:
      return undefined
  }
}
