import type { Field } from '../../definition/field.ts'
import { maxRealPrecision } from '../../definition/stored-forms.ts'
import { exactCollations, quoted, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { allowedBy } from './checks.ts'
import { fitTerm, mysqlInspection } from './inspection.ts'
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
import type { ServerCatalogue } from '../describe/describe-server.ts'

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

type Published = (column: CatalogueColumn, isLink: boolean) => Candidates

const whole: Published = (column, isLink) => exactly(...wholeNumbers(column, isLink))
const longText: Published = ({ isJson }) =>
  isJson === true ? jsonOr({ type: 'text' }) : { fields: [{ type: 'text' }] }
const shown: Published = ({ declared }) => onlyText(`its type is ${declared}`)

/** How the types of columns are published. Others are left out. */
const publishedTypes: Readonly<Record<string, Published>> = {
  varchar: ({ length }) => ({ fields: [{ type: 'text', ...limit(length) }] }),
  char: ({ length }) => ({ fields: [{ type: 'text', ...limit(length), storedAs: 'char' }] }),
  ...{ tinytext: longText, text: longText, mediumtext: longText, longtext: longText },
  enum: () => ({ fields: [{ type: 'text' }] }),
  ...{ tinyint: whole, smallint: whole, mediumint: whole, int: whole, bigint: whole, year: whole },
  decimal: ({ precision = 0, scale = 0, declared }) => decimalOf(precision, scale, declared),
  ...{ float: doubleOf, double: doubleOf },
  bit: ({ declared }) =>
    declared === 'bit(1)'
      ? exactly({ type: 'boolean' })
      : onlyText(`its type is ${declared}, and the text has its binary digits`),
  date: () => exactly({ type: 'date' }),
  time: (column, isLink) =>
    column.scale === 0 ? exactly({ type: 'time' }) : shown(column, isLink),
  datetime: ({ scale }) => timeOf('dateTime', scale),
  timestamp: ({ scale }) => timeOf('instant', scale),
  uuid: () => exactly({ type: 'uuid' }),
  json: () => changedJson('the server'),
  ...{ set: shown, inet4: shown, inet6: shown },
}

function candidates(column: CatalogueColumn, isLink: boolean): Candidates {
  const { base, declared } = column
  const unfit = /blob|binary/.test(base) ? 'holds bytes' : `its type is ${declared}`
  return publishedTypes[base]?.(column, isLink) ?? { fields: [], note: unfit }
}

function limit(length = 0): { readonly maxLength?: number } {
  return length > 0 ? { maxLength: length } : {}
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
