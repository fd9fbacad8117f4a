import type { Field, FieldTypeName } from '../../definition/field.ts'

/** The storage class of a value in SQLite. */
export type StorageClass = 'text' | 'integer' | 'real'

/** The valid values of a field type in a column. */
interface StoredForm {
  readonly storageClass: StorageClass
  /**
   * The condition for a value of the storage class. It must not be null for a value that is not null,
   * because a CHECK accepts null. Absent: every value of the class is valid.
   */
  readonly condition?: (column: string, field: Field) => string
  /** A condition that depends on options that may change, and is therefore not part of a CHECK. */
  readonly further?: (column: string, field: Field) => string
}

const digits = (count: number): string => '[0-9]'.repeat(count)
const day = `${digits(4)}-${digits(2)}-${digits(2)}`
const time = `${day}T${digits(2)}:${digits(2)}:${digits(2)}`
const uuid = [8, 4, 4, 4, 12].map((count) => '[0-9a-f]'.repeat(count)).join('-')

// GLOB, substr and date() ignore everything after U+0000.
const noNul = (column: string): string => `instr(${column}, char(0)) = 0`

// date() returns the next day for 24:00:00, and null for other times that do not exist.
const realTime = (column: string, zone: string): string =>
  `(${column} GLOB '${time}${zone}' OR ${column} GLOB '${time}.${digits(3)}${zone}') AND substr(${column}, 1, 10) IS date(${column}) AND ${column} NOT GLOB '0000*' AND ${noNul(column)}`

const forms: Readonly<Record<FieldTypeName, StoredForm>> = {
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
  },
  boolean: { storageClass: 'integer', condition: (column) => `${column} IN (0, 1)` },
  date: {
    storageClass: 'text',
    // date('now') throws in a CHECK. The first term excludes it.
    condition: (column) =>
      `${column} GLOB '${day}' AND ${column} IS date(${column}) AND ${column} NOT GLOB '0000*'`,
  },
  dateTime: { storageClass: 'text', condition: (column) => realTime(column, '') },
  instant: { storageClass: 'text', condition: (column) => realTime(column, 'Z') },
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
export function storageClassOf({ type }: { readonly type: FieldTypeName }): StorageClass {
  return forms[type].storageClass
}

/** Returns the CHECK condition of a column in a STRICT table. Undefined if the declared type is sufficient. */
export function checkCondition(column: string, field: Field): string | undefined {
  return forms[field.type].condition?.(column, field)
}

/** Returns the condition that a value fits its field if {@link checkCondition} holds. Undefined: it always does. */
export function furtherCondition(column: string, field: Field): string | undefined {
  return forms[field.type].further?.(column, field)
}

/** Returns the condition that a value of any column fits its field, if it is not null. */
export function fitCondition(column: string, field: Field): string {
  const { storageClass, condition, further } = forms[field.type]
  const terms = [condition, further].map((term) => term?.(column, field))
  const own = [`typeof(${column}) = '${storageClass}'`, ...terms]
    .filter((term) => term !== undefined)
    .join(' AND ')
  if (storageClass !== 'real') return own
  // A column without REAL affinity stores an integral double as an integer. It must be exact as a double.
  const exact = `CAST(CAST(${column} AS REAL) AS INTEGER) = ${column}`
  const bounds = `${column} BETWEEN -9223372036854774784 AND 9223372036854774784`
  return `(${own} OR typeof(${column}) = 'integer' AND ${bounds} AND ${exact})`
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
