import type { Field } from '../../definition/field.ts'
import { maxDepth } from '../../protocol/json.ts'
import { bind } from '../../storage/pool/connection.ts'
import type { Inspection } from '../../storage/sql/dialect.ts'
import { join, literal, raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { unusualJson } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'

const maxSlices = 20
// A smaller table takes less than a second.
const minPages = 1_000

/** How the rows of PostgreSQL are inspected. */
export const postgresInspection: Inspection = {
  misfits(value, column, field) {
    const base = column.base === 'money' ? 'numeric' : column.base
    const fits = fitTerm(value, { base }, field)
    const isWhole = (field as { readonly storedAs?: string }).storedAs === 'seconds'
    const whole =
      isWhole && column.scale !== 0 ? sql`${value} = date_trunc('second', ${value})` : undefined
    const terms = [fits, whole].filter((term) => term !== undefined)
    return terms.length === 0 ? undefined : sql`not (${join(terms, raw(' and '))})`
  },
  // In everything else, the server accepts the JSON of the standard.
  doubtful: (text, { type }) =>
    type === 'json'
      ? sql`(${text} ~ ${literal(unusualJson)} or length(${text}) - length(translate(${text}, '[{', '')) > ${raw(String(maxDepth))})`
      : undefined,
  // Each slice is a range of the pages of a table.
  async parts(connection, { table: { id, kind }, column }) {
    if (kind !== 'table') return []
    const pages = sql`select pg_relation_size(${raw(id)}) / current_setting('block_size')::bigint`
    const [[count] = []] = await connection.rows(bind(pages))
    const size = Math.ceil(Number(count) / maxSlices)
    if (Number(count) < minPages) return []
    return Array.from({ length: maxSlices }, (_, part) => {
      const page = column('ctid')
      const from = sql`${page} >= ${literal(`(${part * size},0)`)}::tid`
      const isLast = part === maxSlices - 1
      return isLast ? from : sql`${from} and ${page} < ${literal(`(${(part + 1) * size},0)`)}::tid`
    })
  },
}

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
    case 'time':
      return sql`${column} < '24:00:00'`
    case 'date':
    case 'dateTime':
    case 'instant':
      return sql`${column} >= '0001-01-01' and ${column} < '10000-01-01'`
    case 'text':
    case 'bigint':
    case 'boolean':
    case 'uuid':
    case 'json':
      return undefined
  }
}
