import { sql } from 'kysely'
import type { PublishedField } from '../../definition/published.ts'
import { searchText } from '../adapter.ts'
import { columnTypeOf, type Letters, type Sql } from './columns.ts'
import type { SqliteValue } from './connection.ts'

/** The name of the SQL function that folds a string for `$q`. */
export const foldFunction = 'rowgate_fold'

/**
 * How a column must be folded for a needle. SQLite's `lower` folds ASCII only. That is enough for an ASCII
 * needle without i and k: the lower case of U+212A is k, and that of U+0130 begins with i.
 */
export type NeedleKind = 'ascii' | 'ascii-ik' | 'any'

/** Returns the kind of a folded needle. Each kind has its own statement. */
export function needleKind(needle: string): NeedleKind {
  for (let index = 0; index < needle.length; index++) {
    if (needle.charCodeAt(index) > 0x7f) return 'any'
  }
  return /[ik]/.test(needle) ? 'ascii-ik' : 'ascii'
}

/** Folds a value: the implementation of {@link foldFunction}. */
export function foldValue(value: SqliteValue): SqliteValue {
  return value === null ? null : searchText(String(value))
}

/** Returns the condition that at least one of the fields contains the needle. */
export function searchCondition(
  fields: readonly PublishedField[],
  kind: NeedleKind,
  column: (field: PublishedField) => Sql,
  needle: () => Sql,
): Sql {
  const terms = fields.map((field) => {
    const type = columnTypeOf(field)
    return sql`instr(${fold(type.letters, kind, type.wire(column(field)))}, ${needle()})`
  })
  return terms.length === 0 ? sql`0` : sql`(${sql.join(terms, sql` or `)})`
}

function fold(letters: Letters, kind: NeedleKind, text: Sql): Sql {
  if (letters === 'none') return text
  if (letters === 'folded' || (letters === 'any' && kind === 'any')) {
    return sql`${sql.id(foldFunction)}(${text})`
  }
  if (letters === 'ascii' || kind !== 'ascii-ik') return sql`lower(${text})`
  return sql`lower(replace(replace(${text}, ${sql.lit('\u212a')}, 'k'), ${sql.lit('\u0130')}, ${sql.lit('i\u0307')}))`
}
