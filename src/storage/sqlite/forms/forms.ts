import type { Field, FieldTypeName } from '../../../definition/field.ts'
import { isServerForm } from '../../../definition/stored-forms.ts'
import { otherForm } from './other-forms.ts'
import {
  day,
  digits,
  noNul,
  realTime,
  textWithHour,
  timeOfDay,
  type StorageClass,
  type ValueForm,
} from './value-form.ts'

const uuid = [8, 4, 4, 4, 12].map((count) => '[0-9a-f]'.repeat(count)).join('-')
const sixty = '[0-5][0-9]'
const moment = `${day}T${timeOfDay}`

const normalForms: Readonly<Record<FieldTypeName, ValueForm>> = {
  text: { storageClass: 'text', condition: noNul },
  integer: {
    storageClass: 'integer',
    condition: (column) =>
      `${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`,
  },
  bigint: { storageClass: 'integer' },
  decimal: { storageClass: 'text', condition: decimalForm, further: decimalDigits },
  double: {
    storageClass: 'real',
    condition: (column) => `${column} > -9e999 AND ${column} < 9e999`,
    classes: doubleClasses,
  },
  boolean: { storageClass: 'integer', condition: (column) => `${column} IN (0, 1)` },
  date: {
    storageClass: 'text',
    // date('now') throws in a CHECK. The first term excludes it.
    condition: (column) =>
      `${column} GLOB '${day}' AND ${column} IS date(${column}) AND ${column} NOT GLOB '0000*'`,
  },
  time: {
    storageClass: 'text',
    condition: (column) =>
      `(${column} GLOB '[01][0-9]:${sixty}:${sixty}' OR ${column} GLOB '2[0-3]:${sixty}:${sixty}') AND ${noNul(column)}`,
  },
  // One form for each value: a fraction of zero would be another one.
  dateTime: {
    storageClass: 'text',
    classes: textWithHour,
    condition: (column) =>
      `(${column} GLOB '${moment}' OR ${column} GLOB '${moment}.${digits(3)}' AND ${column} NOT GLOB '*.000') AND ${realTime(column)}`,
  },
  instant: {
    storageClass: 'text',
    classes: textWithHour,
    condition: (column) => `${column} GLOB '${moment}.${digits(3)}Z' AND ${realTime(column)}`,
  },
  uuid: {
    storageClass: 'text',
    condition: (column) => `${column} GLOB '${uuid}' AND ${noNul(column)}`,
  },
  json: {
    storageClass: 'text',
    // json_valid also ignores everything after U+0000.
    condition: (column) => `json_valid(${column}) AND ${noNul(column)}`,
  },
}

/** Returns the storage class of a field's values. */
export function storageClassOf(field: Field): StorageClass {
  return formOf(field).storageClass
}

/** Returns the CHECK condition of a column in a STRICT table. Undefined if the declared type is sufficient. */
export function checkCondition(column: string, field: Field): string | undefined {
  return formOf(field).condition?.(column, field)
}

/** Returns the condition that a value fits its field if {@link checkCondition} holds. Undefined: it always does. */
export function furtherCondition(column: string, field: Field): string | undefined {
  return formOf(field).further?.(column, field)
}

/** Returns the condition that a value of any column fits its field, if it is not null. */
export function fitCondition(column: string, field: Field): string {
  const { storageClass, condition, further, classes } = formOf(field)
  const ofClass = classes?.(column, field) ?? `typeof(${column}) = '${storageClass}'`
  const terms = [condition, further].map((term) => term?.(column, field))
  return [ofClass, ...terms].filter((term) => term !== undefined).join(' AND ')
}

function formOf(field: Field): ValueForm {
  const { storedAs } = field as { readonly storedAs?: string }
  const isNormal = storedAs === undefined || isServerForm(storedAs)
  return isNormal ? normalForms[field.type] : otherForm(field).form
}

// A column without REAL affinity stores an integral double as an integer. It must be exact as a double.
function doubleClasses(column: string): string {
  const exact = `CAST(CAST(${column} AS REAL) AS INTEGER) = ${column}`
  const bounds = `${column} BETWEEN -9223372036854774784 AND 9223372036854774784`
  return `(typeof(${column}) = 'real' OR typeof(${column}) = 'integer' AND ${bounds} AND ${exact})`
}

// The canonical form: all digits of the scale, no leading zeros, and no negative zero.
function decimalForm(column: string, field: Field): string {
  const { scale } = field as Field & { type: 'decimal' }
  const [form, zero] =
    scale === 0 ? ['[0-9]*', '-0'] : [`[0-9]*.${digits(scale)}`, `-0.${'0'.repeat(scale)}`]
  return [
    `(${column} GLOB '${form}' OR ${column} GLOB '-${form}')`,
    `trim(substr(${column}, 2), '0123456789') = '${scale === 0 ? '' : '.'}'`,
    `${column} NOT GLOB '0[0-9]*' AND ${column} NOT GLOB '-0[0-9]*' AND ${column} <> '${zero}'`,
  ].join(' AND ')
}

function decimalDigits(column: string, field: Field): string {
  const { precision, scale } = field as Field & { type: 'decimal' }
  const whole = Math.max(precision - scale, 1)
  const maxLength = whole + (scale === 0 ? 0 : scale + 1)
  const length = `(length(${column}) <= ${maxLength} OR length(${column}) = ${maxLength + 1} AND ${column} GLOB '-*')`
  return precision > scale ? length : `${length} AND ltrim(${column}, '-') GLOB '0*'`
}
