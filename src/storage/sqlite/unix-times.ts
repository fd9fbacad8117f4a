import { numeric, type ColumnType } from './column-types.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { literal, sql, type Sql } from '../sql/fragments.ts'
import type { ValueForm } from './value-form.ts'

// The first and the last second of the years 1 to 9999.
const first = -62_135_596_800
const last = 253_402_300_799
const secondsOfDay = 86_400

/**
 * Returns the form of a time that is stored as a whole number of seconds (`perSecond` 1) or milliseconds
 * (1000) since 1970 in UTC.
 */
export function unixTime(
  type: 'date' | 'dateTime' | 'instant',
  perSecond: 1 | 1000,
): { readonly form: ValueForm; readonly columnType: ColumnType } {
  const range = `BETWEEN ${first * perSecond} AND ${(last + 1) * perSecond - 1}`
  const isDay = (column: string): string =>
    type === 'date' ? ` AND ${column} % ${secondsOfDay * perSecond} = 0` : ''
  const read = (column: Sql): Sql => readUnix(type, perSecond, column)
  return {
    form: {
      storageClass: 'integer',
      condition: (column) => `${column} ${range}${isDay(column)}`,
      classes: (column) =>
        `typeof(${column}) IN ('integer', 'real') AND CAST(${column} AS INTEGER) = ${column}`,
    },
    columnType: {
      ...numeric,
      fits: ['INTEGER', 'NUMERIC', 'REAL', 'BLOB'],
      bind: (value) => BigInt(milliseconds(type, value) / (1000 / perSecond)),
      read,
      json: read,
      wire: read,
      letters: type === 'date' ? 'none' : 'ascii',
    },
  }
}

function milliseconds(type: 'date' | 'dateTime' | 'instant', value: StoredValue): number {
  return Date.parse(type === 'dateTime' ? `${value as string}Z` : (value as string))
}

function readUnix(type: 'date' | 'dateTime' | 'instant', perSecond: number, column: Sql): Sql {
  const count = sql`cast(${column} as integer)`
  const fraction = sql`(${count} % 1000 + 1000) % 1000`
  const seconds = perSecond === 1 ? count : sql`(${count} - ${fraction}) / 1000`
  if (type === 'date') return sql`date(${seconds}, 'unixepoch')`
  const whole = sql`strftime('%Y-%m-%dT%H:%M:%S', ${seconds}, 'unixepoch')`
  const zone = type === 'instant' ? sql` || 'Z'` : sql``
  if (perSecond === 1) return sql`${whole}${zone}`
  const shown = sql`case ${count} % 1000 when 0 then '' else printf(${literal('.%03d')}, ${fraction}) end`
  return sql`${whole} || ${shown}${zone}`
}
