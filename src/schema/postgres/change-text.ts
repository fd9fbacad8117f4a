import type { SchemaChangeText } from '../database.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { columnKinds } from './column-kinds.ts'

/** How PostgreSQL changes its tables. */
export const postgresChanges: SchemaChangeText = {
  isTransactional: true,
  described,
  redeclare({ name: table }, column, { field, declared }) {
    // The conditions of a domain would be lost.
    if (column.isDomain === true || !columnKinds.isWidened(column, field.definition))
      return undefined
    const name = quoted(column.name)
    const [, type = ''] = declaredForm.exec(declared) ?? []
    const value = type.startsWith('timestamp') ? name : `${name}::${type}`
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
