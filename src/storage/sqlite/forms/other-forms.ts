import { Buffer } from 'node:buffer'
import type { Field } from '../../../definition/field.ts'
import type { StoredValue } from '../../../definition/field-type.ts'
import {
  binary,
  numeric,
  punctuated,
  readAs,
  textual,
} from '../../../schema/sqlite/column-types.ts'
import { literal, raw, sql, type Sql } from '../../sql/fragments.ts'
import { timeForm } from './time-forms.ts'
import { noNul, type OtherForm } from './value-form.ts'

/** Returns the form that a field declares with `storedAs`. */
export function otherForm(field: Field): OtherForm {
  let known = forms.get(field)
  if (known === undefined) forms.set(field, (known = formOf(field)))
  return known
}

const forms = new WeakMap<Field, OtherForm>()

function formOf(field: Field): OtherForm {
  switch (field.type) {
    case 'date':
    case 'dateTime':
    case 'instant':
      return timeForm(field.type, field.storedAs ?? '')
    case 'decimal':
      return realForm(field.precision, field.scale)
    case 'boolean':
      return wordForm(field.storedAs ?? '')
    case 'uuid':
      return field.storedAs === 'blob' ? uuidBlob : uuidText(field.storedAs ?? '')
    default:
      throw new TypeError(`A field of type ${field.type} has no other form.`)
  }
}

/** Returns the form of a decimal that is stored as the nearest number. */
function realForm(precision: number, scale: number): OtherForm {
  const printed = (column: string): string => `printf('%.${scale}f', ${column})`
  // Adding zero removes the sign of a negative zero. printf writes null as a number.
  const read = (column: Sql): Sql =>
    sql`case when ${column} is not null then printf(${literal(`%.${scale}f`)}, ${column} + 0.0) end`
  const bound = 10 ** (precision - scale)
  return {
    form: {
      storageClass: 'real',
      condition: (column) =>
        `${column} > -1e15 AND ${column} < 1e15 AND CAST(${printed(column)} AS REAL) = ${column}`,
      further: (column) => `${column} > -${bound} AND ${column} < ${bound}`,
      classes: numbers,
    },
    columnType: {
      ...numeric,
      ...readAs(read),
      fits: ['REAL', 'NUMERIC', 'INTEGER', 'BLOB'],
      bind: Number,
      hasExactJson: false,
    },
  }
}

/** Returns the condition that a value is a number. */
function numbers(column: string): string {
  return `typeof(${column}) IN ('real', 'integer')`
}

/** Returns the form of a boolean that is stored as one of two words: `true/false`. */
function wordForm(words: string): OtherForm {
  const [yes = '', no = ''] = words.split('/')
  const wire = (column: Sql): Sql =>
    sql`case ${binary(column)} when ${literal(yes)} then 'true' when ${literal(no)} then 'false' end`
  return {
    form: {
      storageClass: 'text',
      condition: (column) => `${column} COLLATE BINARY IN ('${yes}', '${no}')`,
    },
    columnType: {
      ...punctuated,
      bind: (value) => (value === true ? yes : no),
      read: (column) => sql`${binary(column)} = ${literal(yes)}`,
      decode: (value) => value === 1,
      json: (column) => sql`json(${wire(column)})`,
      wire,
      letters: 'none',
    },
  }
}

function uuidText(storedAs: string): OtherForm {
  const isUpper = storedAs !== 'hex'
  const digit = isUpper ? '[0-9A-F]' : '[0-9a-f]'
  const hasHyphens = storedAs === 'uppercase'
  const groups = [8, 4, 4, 4, 12].map((count) => digit.repeat(count))
  const pattern = groups.join(hasHyphens ? '-' : '')
  const read = (column: Sql): Sql => (hasHyphens ? sql`lower(${column})` : hyphenated(column))
  return {
    form: {
      storageClass: 'text',
      condition: (column) => `${column} GLOB '${pattern}' AND ${noNul(column)}`,
    },
    columnType: {
      // A column with NUMERIC affinity converts 32 decimal digits to a number.
      ...(hasHyphens ? punctuated : textual),
      ...readAs(read),
      bind(value) {
        const text = hasHyphens ? (value as string) : hexOf(value)
        return isUpper ? text.toUpperCase() : text
      },
    },
  }
}

const uuidBlob: OtherForm = {
  form: { storageClass: 'blob', condition: (column) => `length(${column}) = 16` },
  columnType: {
    ...numeric,
    // hex(null) is the empty string.
    ...readAs((column) => hyphenated(sql`nullif(hex(${column}), '')`)),
    fits: ['BLOB', 'NUMERIC'],
    bind: (value) => Buffer.from(hexOf(value), 'hex'),
    hasExactJson: false,
  },
}

function hexOf(value: StoredValue): string {
  return (value as string).replaceAll('-', '')
}

/** Returns a UUID in lower case from its 32 digits. */
function hyphenated(hex: Sql): Sql {
  const part = (first: number, count: number): Sql =>
    sql`substr(${hex}, ${raw(`${first}, ${count}`)})`
  return sql`lower(${part(1, 8)} || '-' || ${part(9, 4)} || '-' || ${part(13, 4)} || '-' || ${part(17, 4)} || '-' || ${part(21, 12)})`
}
