import type { Field } from '../../definition/field.ts'
import { readSchema } from '../../storage/postgres/catalogue.ts'
import { fitTerm } from '../../storage/postgres/value-fit.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import type { Column } from '../../storage/sql/tables.ts'
import type { Candidates, ServerCatalogue } from '../server/read-database.ts'
import { allowedValues } from './checks.ts'

/** What introspection needs to know of PostgreSQL. */
export const postgresCatalogue: ServerCatalogue = {
  begin: 'begin isolation level repeatable read read only',
  readTables: readSchema,
  candidates: candidateFields,
  fitTerm,
  allowedValues,
  quoted,
}

/**
 * Returns the fields that a column may be by its type. The last one is read-only text, which is exact for every
 * value.
 *
 * @param isLink whether it is part of a key or of a foreign key, where numbers are whole
 */
function candidateFields(column: Column, isLink: boolean): Candidates {
  const { base, declared, labels, scale, length: longest } = column
  const length = longest === undefined ? {} : { maxLength: longest }
  const known = exactTypes[base]
  if (known !== undefined) return exact(...known)
  if (labels !== undefined) return { fields: [{ type: 'text' }] }
  switch (base) {
    case 'text':
    case 'varchar':
    case 'citext':
      return { fields: [{ type: 'text', ...length }] }
    case 'bpchar':
      return { fields: [{ type: 'text', ...length, storedAs: 'char' }] }
    case 'numeric':
      return numericFields(column, isLink)
    case 'timestamp':
    case 'timestamptz':
      return timeFields(base === 'timestamp' ? 'dateTime' : 'instant', scale)
    case 'float4':
      return { ...exact({ type: 'double', readOnly: true }), note: rounded(declared) }
    case 'money':
      return { ...exact(money), note: rounded(declared) }
    case 'jsonb':
      return {
        fields: [{ type: 'json', itemOnly: true, readOnly: true }],
        note: "read-only, and only in single items: jsonb does not keep the order and the form of JSON. To accept this, replace itemOnly and readOnly with storedAs: 'jsonb'",
      }
    case 'bytea':
      return { fields: [], note: 'holds bytes' }
    default:
      return textOnly(`its type is ${declared}`)
  }
}

function exact(...fields: readonly Field[]): Candidates {
  const lastNote = `read-only text: some values do not fit the type ${String(fields[0]?.type)}`
  return { fields: [...fields, readOnlyText], lastNote }
}

function textOnly(reason: string): Candidates {
  return { fields: [readOnlyText], lastNote: `read-only text: ${reason}` }
}

const readOnlyText: Field = { type: 'text', readOnly: true }
const wholeNumber: Field = { type: 'decimal', precision: 38, scale: 0 }
const money: Field = { type: 'decimal', precision: 19, scale: 2, readOnly: true }
const whole: readonly Field[] = [{ type: 'integer' }, { type: 'bigint' }]

const exactTypes: Readonly<Record<string, readonly Field[]>> = {
  int2: whole,
  int4: whole,
  int8: whole,
  float8: [{ type: 'double' }],
  bool: [{ type: 'boolean' }],
  date: [{ type: 'date' }],
  uuid: [{ type: 'uuid' }],
  json: [{ type: 'json' }],
}

function rounded(declared: string): string {
  return `read-only: ${declared} would round values`
}

function numericFields({ precision, scale, declared }: Column, isLink: boolean): Candidates {
  if (precision === undefined || scale === undefined) {
    const text = textOnly(
      'numeric without a scale may have any number of digits. If you know the largest number, declare decimal',
    )
    return isLink ? { ...text, fields: [wholeNumber, readOnlyText] } : text
  }
  const fits = precision <= 38 && scale >= 0 && scale <= precision
  if (fits) return exact({ type: 'decimal', precision, scale })
  return textOnly(`a decimal can't have the digits of ${declared}`)
}

function timeFields(type: 'dateTime' | 'instant', digits: number | undefined): Candidates {
  if (digits === 3) return exact({ type })
  if (digits === 0) return exact({ type, storedAs: 'seconds' })
  if (digits === undefined || digits > 3) return exact({ type, storedAs: 'microseconds' })
  const note = 'read-only: its values have less than three digits after the seconds'
  return { ...exact({ type, readOnly: true }), note }
}
