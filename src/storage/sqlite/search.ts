import { sql } from 'kysely'
import type { PublishedField } from '../../definition/published.ts'
import { searchText } from '../adapter.ts'
import { columnTypeOf, type Letters, type Sql } from './columns.ts'
import type { SqliteValue } from './connection.ts'

/** The SQL function that folds a text for `$q`. */
export const foldFunction = 'rowgate_fold'

/**
 * How much of the folding a needle needs. SQLite's `lower` folds ASCII, which is all that an ASCII
 * needle can meet, except for the two other signs whose lower case is or begins with an ASCII letter.
 */
export type NeedleKind = 'ascii' | 'ascii-ik' | 'any'

/** The kind of a folded needle: one statement each. */
export function needleKind(needle: string): NeedleKind {
  for (let index = 0; index < needle.length; index++) {
    if (needle.charCodeAt(index) > 0x7f) return 'any'
  }
  return /[ik]/.test(needle) ? 'ascii-ik' : 'ascii'
}

/** What {@link foldFunction} does. */
export function foldValue(value: SqliteValue): SqliteValue {
  return value === null ? null : searchText(String(value))
}

/** The condition that one of the fields contains the needle. */
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
