import type { PublishedField } from '../../../definition/published-field.ts'
import { searchText } from '../../adapter.ts'
import type { Letters } from '../../../schema/sqlite/column-types.ts'
import { columnTypeOf } from '../statements/columns.ts'
import type { SqliteValue } from '../connection/connection.ts'
import { grouped, identifier, literal, sql, type Sql } from '../../sql/fragments.ts'

/** The name of the SQL function that folds a string for `$q`. */
export const foldFunction = 'rowgate_fold'

/**
 * How a column is compared with a needle. SQLite folds ASCII only, in `lower` and in LIKE. That is enough
 * for an ASCII needle without i and k: the lower case of U+212A is k, and the lower case of U+0130 begins with i.
 */
export type NeedleKind = 'ascii' | 'ascii-ik' | 'any'

/** The parts of a search that determine its SQL. */
export interface SearchShape {
  readonly fields: readonly string[]
  readonly kind: NeedleKind
}

// SQLite rejects a LIKE pattern of more than 50,000 bytes, and escaping may double a needle.
const maxLikeNeedle = 20_000

/**
 * Returns the kind of a folded needle. Each kind has its own statement. `any` is correct for every needle,
 * and the slowest.
 */
export function needleKind(needle: string): NeedleKind {
  if (needle.length > maxLikeNeedle) return 'any'
  for (let index = 0; index < needle.length; index++) {
    if (needle.charCodeAt(index) > 0x7f) return 'any'
  }
  return /[ik]/.test(needle) ? 'ascii-ik' : 'ascii'
}

/** Returns the LIKE pattern, with the escape character `\`, of values that contain the needle. */
export function likePattern(needle: string): string {
  return `%${needle.replace(/[\\%_]/g, '\\$&')}%`
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
  parameters: { readonly needle: Sql; readonly pattern: Sql },
): Sql {
  const { needle, pattern } = parameters
  const terms = fields.map((field) => {
    const { letters, wire } = columnTypeOf(field)
    const text = wire(column(field))
    if (letters !== 'any' || kind === 'any') {
      return sql`instr(${fold(letters, text)}, ${needle})`
    }
    // With a bare parameter as the pattern, SQLite plans the statement again for each needle.
    const like = sql`${text} like cast(${pattern} as text) escape '\\'`
    if (kind === 'ascii') return like
    const hasOther = sql`(instr(${text}, ${kelvin}) or instr(${text}, ${dottedI}))`
    return sql`(${like} or ${hasOther} and instr(${foldOthers(text)}, ${needle}))`
  })
  return terms.length === 0 ? sql`0` : grouped(terms, sql` or `)
}

function fold(letters: Letters, text: Sql): Sql {
  if (letters === 'none') return text
  return letters === 'ascii' ? sql`lower(${text})` : sql`${identifier(foldFunction)}(${text})`
}

const kelvin = literal('\u212a')
const dottedI = literal('\u0130')

function foldOthers(text: Sql): Sql {
  return sql`lower(replace(replace(${text}, ${kelvin}, 'k'), ${dottedI}, ${literal('i\u0307')}))`
}
