import { exactCollations, quoted, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { raw, sql } from '../../storage/sql/fragments.ts'
import { listedValues, type AllowedColumn } from '../describe/allowed-values.ts'
import type { ServerCatalogue } from '../describe/describe-server.ts'
import { columnKinds } from './column-kinds.ts'
import { mysqlInspection } from './inspection.ts'
import { unescaped } from './literals.ts'
import { readSchema, undeletableTables } from './read-schema.ts'

/**
 * Returns what introspection needs to know of MariaDB and MySQL. `server` returns which one it is, once a connection is
 * open.
 */
export function mysqlCatalogue(server: () => MysqlServer): ServerCatalogue {
  return {
    begin: 'start transaction with consistent snapshot, read only',
    needsSavepoints: false,
    undeletable: undeletableTables,
    readTables: readSchema,
    candidates: columnKinds.candidates,
    fitTerm: columnKinds.fitTerm,
    inspection: () => mysqlInspection(server() === 'MariaDB'),
    textOf: (value) =>
      sql`convert(${value} using utf8mb4) collate ${raw(exactCollations[server()])}`,
    allowedBy,
    quoted,
  }
}

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
