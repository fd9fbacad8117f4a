import { listedValues, type AllowedColumn } from '../describe/allowed-values.ts'
import { unescaped } from './literals.ts'

/** Reads a CHECK constraint such as `` `status` in ('open','closed') ``. */
export function allowedBy(constraint: string): AllowedColumn | undefined {
  const clause = unwrapped(constraint).replace(orNull, '$1 or $2')
  const [, column, only, list = only] = checkForm.exec(clause) ?? []
  // The catalogue of MariaDB has this instead of a character beyond U+FFFF.
  const isKnown = list !== undefined && !list.includes('????')
  const values = isKnown ? listedValues(list, ',', valueForm, valueOf) : undefined
  return column === undefined || values === undefined
    ? undefined
    : { column: column.replaceAll('``', '`'), values }
}

// A CHECK accepts null in any case.
const checkForm = /^`((?:[^`]|``)+)` (?:= (.+?)|in \((.*?)\))(?: or `\1` is null)?$/s
// MySQL writes both parts in parentheses.
const orNull = /^\((.*)\) or \((`(?:[^`]|``)+` is null)\)$/s
// MySQL writes the character set before a string, and the digits of a negative number in parentheses.
const valueForm =
  /(-?\d+(?:\.\d+)?|-\(\d+(?:\.\d+)?\))(?=,|$)|(?:_[a-z0-9]+)?'((?:[^'\\]|''|\\.)*)'/sy

function valueOf([, number, text = '']: RegExpExecArray): string | number {
  return number === undefined ? unescaped(text) : Number(number.replace(/[()]/g, ''))
}

function unwrapped(clause: string): string {
  return /^\((.*)\)$/s.exec(clause)?.[1] ?? clause
}
