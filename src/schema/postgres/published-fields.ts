import type { Field } from '../../definition/field.ts'
import { readSchema } from './catalogue.ts'
import { allowedBy } from './checks.ts'
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
import type { ServerCatalogue } from '../describe/describe-server.ts'

/** What introspection needs to know of PostgreSQL. */
export const postgresCatalogue: ServerCatalogue = {
  begin: 'begin isolation level repeatable read read only',
  needsSavepoints: true,
  readTables: readSchema,
  candidates,
  fitTerm,
  inspection: () => postgresInspection,
  textOf: (value) => sql`(${value}::text collate "C")`,
  allowedBy,
  quoted,
}

type Published = (column: Column, isLink: boolean) => Candidates

const text: Published = ({ length }) => ({ fields: [{ type: 'text', ...limit(length) }] })
const whole: Published = () => exactly({ type: 'integer' }, { type: 'bigint' })

/** How the types of columns are published. Others are read-only text, which is exact for every value. */
const publishedTypes: Readonly<Record<string, Published>> = {
  ...{ text, varchar: text, citext: text },
  bpchar: ({ length }) => ({ fields: [{ type: 'text', ...limit(length), storedAs: 'char' }] }),
  ...{ int2: whole, int4: whole, int8: whole },
  numeric: numericFields,
  money: ({ declared }) => rounded(declared, money),
  float4: ({ declared }) => rounded(declared, { type: 'double', readOnly: true }),
  float8: () => exactly({ type: 'double' }),
  bool: () => exactly({ type: 'boolean' }),
  date: () => exactly({ type: 'date' }),
  time: timeOfDay,
  timestamp: ({ scale }) => timeOf('dateTime', scale),
  timestamptz: ({ scale }) => timeOf('instant', scale),
  uuid: () => exactly({ type: 'uuid' }),
  json: () => jsonOr(readOnlyText),
  jsonb: () => changedJson('jsonb'),
  bytea: () => ({ fields: [], note: 'holds bytes' }),
}

function candidates(column: Column, isLink: boolean): Candidates {
  if (column.labels !== undefined) return { fields: [{ type: 'text' }] }
  const { base, declared } = column
  // A type of the database may have the name of a member of every object.
  const known = Object.hasOwn(publishedTypes, base) ? publishedTypes[base] : undefined
  return known?.(column, isLink) ?? onlyText(`its type is ${declared}`)
}

function timeOfDay({ scale, declared }: Column): Candidates {
  return scale === 0 ? exactly({ type: 'time' }) : onlyText(`its type is ${declared}`)
}

function limit(maxLength: number | undefined): { readonly maxLength?: number } {
  return maxLength === undefined ? {} : { maxLength }
}

const wholeNumber: Field = { type: 'decimal', precision: 38, scale: 0 }
const money: Field = { type: 'decimal', precision: 19, scale: 2, readOnly: true }

function numericFields({ precision, scale, declared }: Column, isLink: boolean): Candidates {
  if (precision !== undefined && scale !== undefined) return decimalOf(precision, scale, declared)
  const text = onlyText(
    'numeric without a scale may have any number of digits. If you know the largest number, declare decimal',
  )
  return isLink ? { ...text, fields: [wholeNumber, ...text.fields] } : text
}
