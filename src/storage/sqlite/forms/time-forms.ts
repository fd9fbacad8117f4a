import type { StoredValue } from '../../../definition/field-type.ts'
import { isCutForm } from '../../../definition/stored-forms.ts'
import { literal, raw, sql, type Sql } from '../../sql/fragments.ts'
import { numeric, punctuated, readAs } from '../../../schema/sqlite/column-types.ts'
import { day, digits, realTime, textWithHour, timeOfDay, type OtherForm } from './value-form.ts'

type Time = 'date' | 'dateTime' | 'instant'

/** Returns the form of a time that a field declares with `storedAs`. */
export function timeForm(type: Time, storedAs: string): OtherForm {
  if (storedAs === 'unixSeconds') return unixTime(type, 1)
  if (storedAs === 'unixMilliseconds') return unixTime(type, 1000)
  if (isCutForm(storedAs)) return microsecondTime(type, storedAs)
  if (type === 'date') return dayWithTime(storedAs.endsWith('.fff') ? '00:00:00.000' : '00:00:00')
  return textTime(type, storedAs)
}

function dayWithTime(midnight: string): OtherForm {
  return {
    form: {
      storageClass: 'text',
      condition: (column) => `${column} GLOB '${day} ${midnight}' AND ${realTime(column)}`,
    },
    columnType: {
      ...punctuated,
      ...readAs((column) => sql`substr(${column}, 1, 10)`),
      bind: (value) => `${value as string} ${midnight}`,
      letters: 'none',
    },
  }
}

/** Returns the form of a day and time as text. */
function textTime(type: 'dateTime' | 'instant', storedAs: string): OtherForm {
  const separator = storedAs.includes('T') ? 'T' : ' '
  const zone = storedAs.endsWith('Z') ? 'Z' : ''
  const fraction = storedAs.includes('[.fff]')
    ? 'nonzero'
    : storedAs.includes('.')
      ? 'always'
      : 'none'
  const omitsMidnight = storedAs.startsWith('YYYY-MM-DD[')
  const whole = `${day}${separator}${timeOfDay}`
  const patterns = (column: string): string => {
    if (fraction === 'none') return `${column} GLOB '${whole}${zone}'`
    const withFraction = `${column} GLOB '${whole}.${digits(3)}'`
    if (fraction === 'always') return withFraction
    const others = `${withFraction} AND ${column} NOT GLOB '*.000'`
    if (!omitsMidnight) return `(${column} GLOB '${whole}' OR ${others})`
    const noMidnight = `${column} GLOB '${whole}' AND ${column} NOT GLOB '* 00:00:00'`
    return `(${noMidnight} OR ${column} GLOB '${day}' OR ${others})`
  }
  const read = (column: Sql): Sql => {
    const moment = separator === 'T' ? column : sql`replace(${column}, ' ', 'T')`
    if (fraction === 'always') return sql`replace(${moment}, '.000', '')`
    if (!omitsMidnight) return moment
    return sql`case length(${column}) when 10 then ${column} || 'T00:00:00' else ${moment} end`
  }
  const lacksZone = type === 'instant' && zone === ''
  return {
    form: {
      storageClass: 'text',
      classes: textWithHour,
      condition: (column) => `${patterns(column)} AND ${realTime(column)}`,
    },
    columnType: {
      ...punctuated,
      ...readAs((column) => (lacksZone ? sql`(${read(column)}) || 'Z'` : read(column))),
      bind(value) {
        const text = (value as string).replace('T', separator).replace('Z', zone)
        if (fraction === 'always' && text.length === wholeLength) return `${text}.000`
        return omitsMidnight ? text.replace(/ 00:00:00$/, '') : text
      },
    },
  }
}

/**
 * Returns the form of a day and time as text with up to nine digits after the seconds. Comparisons have the stored form
 * of the time without the digits after the milliseconds.
 */
function microsecondTime(type: Time, storedAs: string): OtherForm {
  const separator = storedAs.includes('T') ? 'T' : ' '
  const zone = storedAs.endsWith('Z') ? 'Z' : ''
  const isFixed = !storedAs.includes('[')
  const whole = `${day}${separator}${timeOfDay}`
  const localText = (column: string): string =>
    zone === '' ? column : `substr(${column}, 1, length(${column}) - 1)`
  const pattern = (column: string): string => {
    if (isFixed) return `${column} GLOB '${whole}.${digits(6)}'`
    const fraction = `substr(${localText(column)}, ${wholeLength + 1})`
    const isFraction = `${fraction} GLOB '.[0-9]*' AND length(${fraction}) <= 10 AND substr(${fraction}, 2) NOT GLOB '*[^0-9]*'`
    return `${column} GLOB '${whole}*${zone}' AND (${fraction} = '' OR ${isFraction})`
  }
  const milliseconds = (column: Sql): Sql => {
    const text = zone === '' ? column : sql`substr(${column}, 1, length(${column}) - 1)`
    const point = sql`case length(${text}) when ${raw(String(wholeLength))} then '.' else '' end`
    return sql`substr(${text} || ${point} || '000', 1, ${raw(String(wholeLength + 4))})`
  }
  const withoutZero = (column: Sql): Sql => sql`replace(${milliseconds(column)}, '.000', '')`
  const cut = (column: Sql): Sql =>
    isFixed
      ? sql`(${milliseconds(column)} || '000')`
      : sql`(replace(${milliseconds(column)} || '000', '.000000', '') || ${literal(zone)})`
  const read = (column: Sql): Sql => {
    const moment =
      separator === 'T' ? withoutZero(column) : sql`replace(${withoutZero(column)}, ' ', 'T')`
    return type === 'instant' ? sql`(${moment} || 'Z')` : moment
  }
  return {
    form: {
      storageClass: 'text',
      classes: textWithHour,
      condition: (column) => `${pattern(column)} AND ${realTime(column)}`,
    },
    columnType: {
      ...punctuated,
      ...readAs(read),
      bind(value) {
        const text = (value as string).replace('T', separator).replace('Z', '')
        const hasFraction = text.length > wholeLength
        const fraction = hasFraction ? '000' : isFixed ? '.000000' : ''
        return `${text}${fraction}${zone}`
      },
      exactly: cut,
      // With its zone, a time without fraction would come after others of the same second.
      compare: (column, operator, value) =>
        sql`${milliseconds(column)} ${raw(operator)} ${milliseconds(value)}`,
      order: (column, descending) => {
        const term = milliseconds(column)
        return [descending ? sql`${term} desc` : term]
      },
      assigned: (column, value) =>
        sql`case when ${cut(column)} = ${value} then ${column} else ${value} end`,
    },
  }
}

const wholeLength = 'YYYY-MM-DD hh:mm:ss'.length

// The first and the last second of the years 1 to 9999.
const first = -62_135_596_800
const last = 253_402_300_799
const secondsOfDay = 86_400

/**
 * Returns the form of a time that is stored as a whole number of seconds (`perSecond` 1) or milliseconds
 * (1000) since 1970 in UTC.
 */
function unixTime(type: Time, perSecond: 1 | 1000): OtherForm {
  const range = `BETWEEN ${first * perSecond} AND ${(last + 1) * perSecond - 1}`
  const isDay = (column: string): string =>
    type === 'date' ? ` AND ${column} % ${secondsOfDay * perSecond} = 0` : ''
  return {
    form: {
      storageClass: 'integer',
      condition: (column) => `${column} ${range}${isDay(column)}`,
      classes: (column) =>
        `typeof(${column}) IN ('integer', 'real') AND CAST(${column} AS INTEGER) = ${column}`,
    },
    columnType: {
      ...numeric,
      ...readAs((column) => readUnix(type, perSecond, column)),
      fits: ['INTEGER', 'NUMERIC', 'REAL', 'BLOB'],
      bind(value) {
        const count = milliseconds(type, value) / (1000 / perSecond)
        // A reference may have a fraction that no stored key has.
        return Number.isInteger(count) ? BigInt(count) : count
      },
      letters: type === 'date' ? 'none' : 'ascii',
    },
  }
}

function milliseconds(type: Time, value: StoredValue): number {
  return Date.parse(type === 'dateTime' ? `${value as string}Z` : (value as string))
}

function readUnix(type: Time, perSecond: number, column: Sql): Sql {
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
