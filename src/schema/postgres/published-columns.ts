import type { Field } from '../../definition/field.ts'
import { readSchema } from './catalogue.ts'
import { fitTerm, postgresInspection } from './inspection.ts'
import { quoted, sql } from '../../storage/sql/fragments.ts'
import type { Column } from '../model.ts'
import {
  changedJson,
  decimalOf,
  exactly,
  jsonOr,
  onlyText,
  readOnlyText,
  rounded,
  timeOf,
  type Candidates,
} from '../describe/candidates.ts'
import type { AllowedColumn, ServerCatalogue } from '../describe/describe-server.ts'

/** What introspection needs to know of PostgreSQL. */
export const postgresCatalogue: ServerCatalogue = {
  begin: 'begin isolation level repeatable read read only',
  needsSavepoints: true,
  readTables: readSchema,
  candidates: candidateFields,
  fitTerm,
  inspection: () => postgresInspection,
  textOf: (value) => sql`(${value}::text collate "C")`,
  allowedBy,
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
  if (known !== undefined) return exactly(...known)
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
      return timeOf(base === 'timestamp' ? 'dateTime' : 'instant', scale)
    case 'float4':
      return rounded(declared, { type: 'double', readOnly: true })
    case 'money':
      return rounded(declared, money)
    case 'json':
      return jsonOr(readOnlyText)
    case 'jsonb':
      return changedJson('jsonb')
    case 'bytea':
      return { fields: [], note: 'holds bytes' }
    default:
      return onlyText(`its type is ${declared}`)
  }
}

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
}

function numericFields({ precision, scale, declared }: Column, isLink: boolean): Candidates {
  if (precision !== undefined && scale !== undefined) return decimalOf(precision, scale, declared)
  const text = onlyText(
    'numeric without a scale may have any number of digits. If you know the largest number, declare decimal',
  )
  return isLink ? { ...text, fields: [wholeNumber, ...text.fields] } : text
}

/** Reads a CHECK constraint such as `CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text])))`. */
function allowedBy(constraint: string): AllowedColumn | undefined {
  const [, inQuotes, plain, list] = checkForm.exec(constraint) ?? []
  const values = list === undefined ? undefined : valuesOf(list)
  const column = inQuotes?.replaceAll('""', '"') ?? plain
  return column === undefined || values === undefined ? undefined : { column, values }
}

const cast = String.raw`(?:::[a-z][a-z ]*(?:\(\d+\))?)`
const checkForm = new RegExp(
  String.raw`^CHECK \(+(?:"((?:[^"]|"")+)"|([a-z_][a-z\d_$]*))\)?${cast}? = ANY \(+ARRAY\[((?:'(?:[^']|'')*'|[^'\]])*)\]\)*(?:::[a-z ]+\[\])?\)+$`,
  's',
)
const valueForm = new RegExp(
  String.raw`'(-?\d+)'::(?:small|big)?int(?:eger)?|(-?\d+)(?=,|$)|'((?:[^']|'')*)'${cast}`,
  'y',
)

function valuesOf(list: string): readonly (string | number)[] | undefined {
  const values: (string | number)[] = []
  for (let at = 0; at < list.length; at = valueForm.lastIndex + 2) {
    valueForm.lastIndex = at
    const match = valueForm.exec(list)
    if (match === null) return undefined
    const [, negative, number, text] = match
    values.push(text === undefined ? Number(negative ?? number) : text.replaceAll("''", "'"))
    const rest = list.slice(valueForm.lastIndex, valueForm.lastIndex + 2)
    if (rest !== '' && rest !== ', ') return undefined
  }
  return values
}
