import type { Field } from '../../definition/field.ts'
import { maxRealPrecision } from '../../definition/stored-forms.ts'
import { exactCollations, quoted, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { fitTerm, mysqlInspection } from './inspection.ts'
import { unescaped } from './literals.ts'
import { readSchema, undeletableTables } from './read-schema.ts'
import type { CatalogueColumn } from '../catalogue-tables.ts'
import { raw, sql } from '../../storage/sql/fragments.ts'
import type { Column } from '../model.ts'
import {
  changedJson,
  decimalOf,
  exactly,
  jsonOr,
  onlyText,
  roundingNote,
  timeOf,
  type Candidates,
} from '../describe/candidates.ts'
import type { AllowedColumn, ServerCatalogue } from '../describe/describe-server.ts'

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
    candidates,
    fitTerm,
    inspection: () => mysqlInspection(server() === 'MariaDB'),
    textOf: (value) =>
      sql`convert(${value} using utf8mb4) collate ${raw(exactCollations[server()])}`,
    allowedBy,
    quoted,
  }
}

function candidates(column: CatalogueColumn, isLink: boolean): Candidates {
  const { base, declared, length = 0, precision = 0, scale } = column
  const maxLength = length > 0 ? { maxLength: length } : {}
  switch (base) {
    case 'varchar':
      return { fields: [{ type: 'text', ...maxLength }] }
    case 'char':
      return { fields: [{ type: 'text', ...maxLength, storedAs: 'char' }] }
    case 'tinytext':
    case 'text':
    case 'mediumtext':
    case 'longtext':
      return column.isJson === true ? jsonOr({ type: 'text' }) : { fields: [{ type: 'text' }] }
    case 'enum':
      return { fields: [{ type: 'text' }] }
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
    case 'year':
      return exactly(...wholeNumbers(column, isLink))
    case 'decimal':
      return decimalOf(precision, scale ?? 0, declared)
    case 'float':
    case 'double':
      return doubleOf(column)
    case 'bit':
      return declared === 'bit(1)'
        ? exactly({ type: 'boolean' })
        : onlyText(`its type is ${declared}, and the text has its binary digits`)
    case 'date':
      return exactly({ type: 'date' })
    case 'datetime':
      return timeOf('dateTime', scale)
    case 'timestamp':
      return timeOf('instant', scale)
    case 'uuid':
      return exactly({ type: 'uuid' })
    case 'json':
      return changedJson('the server')
    case 'set':
    case 'time':
    case 'inet4':
    case 'inet6':
      return onlyText(`its type is ${declared}`)
    default:
      return {
        fields: [],
        note: /blob|binary/.test(base) ? 'holds bytes' : `its type is ${declared}`,
      }
  }
}

function wholeNumbers({ base, declared }: Column, isLink: boolean): readonly Field[] {
  const isFlag = !isLink && /^tinyint\(1\)( unsigned)?$/.test(declared)
  const isLarge = base === 'bigint'
  return [
    ...(isFlag ? [{ type: 'boolean' } as const] : []),
    { type: 'integer' },
    ...(isLarge ? [{ type: 'bigint' } as const] : []),
    ...(isLarge && isUnsigned(declared) ? [largest] : []),
  ]
}

// Not even as read-only text, for example in a key: the server has no text of a double that is exact.
function doubleOf({ base, declared, precision = 0, scale = 0 }: Column): Candidates {
  if (base === 'double' && !/[(z]/.test(declared)) return { fields: [{ type: 'double' }] }
  // The server rounds to these digits, and a double has up to 15 of them exactly.
  if (
    /^double\(\d+,\d+\)(?: unsigned)?$/.test(declared) &&
    scale > 0 &&
    precision <= maxRealPrecision
  )
    return exactly({ type: 'decimal', precision, scale })
  return { fields: [{ type: 'double', readOnly: true }], note: roundingNote(declared) }
}

const largest: Field = { type: 'decimal', precision: 20, scale: 0 }

function isUnsigned(declared: string): boolean {
  return declared.includes('unsigned')
}

/** Reads a CHECK constraint such as `` `status` in ('open','closed') ``. */
function allowedBy(constraint: string): AllowedColumn | undefined {
  const clause = unwrapped(constraint).replace(orNull, '$1 or $2')
  const [, column, only, list = only] = checkForm.exec(clause) ?? []
  // The catalogue of MariaDB has this instead of a character beyond U+FFFF.
  const isKnown = list !== undefined && !list.includes('????')
  const values = isKnown ? valuesOf(list) : undefined
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

function valuesOf(list: string): readonly (string | number)[] | undefined {
  const values: (string | number)[] = []
  for (let at = 0; at < list.length; at = valueForm.lastIndex + 1) {
    valueForm.lastIndex = at
    const match = valueForm.exec(list)
    if (match === null) return undefined
    const [, number, text = ''] = match
    values.push(number === undefined ? unescaped(text) : Number(number.replace(/[()]/g, '')))
    const next = list[valueForm.lastIndex]
    if (next !== undefined && next !== ',') return undefined
  }
  return values
}

function unwrapped(clause: string): string {
  return /^\((.*)\)$/s.exec(clause)?.[1] ?? clause
}
