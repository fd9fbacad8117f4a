import { maxDepth } from '../../protocol/json.ts'
import { bind } from '../../storage/pool/connection.ts'
import type { Inspection } from '../../storage/sql/dialect.ts'
import { join, literal, raw, sql } from '../../storage/sql/fragments.ts'
import { unusualJson } from '../../storage/sql/stored-text.ts'
import { columnKinds } from './column-kinds.ts'

const maxSlices = 20
// A smaller table takes less than a second.
const minPages = 1_000

/** How the rows of PostgreSQL are inspected. */
export const postgresInspection: Inspection = {
  misfits(value, column, field) {
    const fits = columnKinds.fitTerm(value, column, field)
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
