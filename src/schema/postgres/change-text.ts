import type { Field } from '../../definition/field.ts'
import type { SchemaChangeText } from '../database.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import type { Column } from '../model.ts'

/** How PostgreSQL changes its tables. */
export const postgresChanges: SchemaChangeText = {
  isTransactional: true,
  described,
  redeclare({ name: table }, column, { field, declared }) {
    const value = convertedValue(column, field.definition)
    if (value === undefined) return undefined
    const name = quoted(column.name)
    return [`ALTER TABLE ${quoted(table)} ALTER COLUMN ${name} TYPE ${declared} USING ${value};`]
  },
  allowNull: ({ name: table }, { name }) =>
    `ALTER TABLE ${quoted(table)} ALTER COLUMN ${quoted(name)} DROP NOT NULL;`,
  dropForeignKey: ({ name: table }, name) =>
    `ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)};`,
}

const catalogueNames: Readonly<Record<string, string>> = {
  bigint: 'int8',
  boolean: 'bool',
  'double precision': 'float8',
}

const declaredForm = /^([a-z ]+?)(?:\((\d+)(?:, (\d+))?\))?(?: COLLATE "(.+)")?$/

function described(declared: string): ReturnType<SchemaChangeText['described']> {
  const [, name = '', first, second, collation] = declaredForm.exec(declared) ?? []
  const digits =
    name === 'numeric'
      ? { precision: Number(first), scale: Number(second) }
      : { scale: first === undefined ? undefined : Number(first) }
  return { base: catalogueNames[name] ?? name, ...digits, collation, isDeterministic: true }
}

const wholeDigits: Readonly<Record<string, number>> = { int2: 5, int4: 10, int8: 19 }

/** Returns the expression of every value of a column in the type of a field. Undefined: some would not be the same. */
function convertedValue(column: Column, field: Field): string | undefined {
  const { base, scale, precision, labels, isDomain } = column
  // The conditions of a domain would be lost.
  if (isDomain === true) return undefined
  const name = quoted(column.name)
  const whole = wholeDigits[base]
  switch (field.type) {
    case 'text': {
      const hasText = labels !== undefined || ['text', 'varchar', 'citext', 'uuid'].includes(base)
      return hasText || whole !== undefined ? `${name}::text` : undefined
    }
    case 'integer':
    case 'bigint': {
      const digits = field.type === 'integer' ? 15 : 18
      const isWhole = base === 'numeric' && scale === 0 && precision !== undefined
      return isWhole && precision <= digits ? `${name}::bigint` : undefined
    }
    case 'decimal': {
      const before = whole ?? (precision === undefined ? undefined : precision - (scale ?? 0))
      const after = whole === undefined ? scale : 0
      if (whole === undefined && base !== 'numeric') return undefined
      if (before === undefined || after === undefined) return undefined
      const isWider = before <= field.precision - field.scale && after <= field.scale
      return isWider ? `${name}::numeric` : undefined
    }
    case 'double':
      return base === 'int2' || base === 'int4' ? `${name}::double precision` : undefined
    case 'dateTime':
    case 'instant': {
      const own = field.type === 'dateTime' ? 'timestamp' : 'timestamptz'
      return base === own && scale !== undefined && scale < 3 ? name : undefined
    }
    case 'json':
      return base === 'jsonb' ? `${name}::json` : undefined
    default:
      return undefined
  }
}
