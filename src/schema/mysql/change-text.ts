import type { Field } from '../../definition/field.ts'
import type { SchemaChangeText } from '../database.ts'
import { hasColumn, type Column, type Table } from '../model.ts'
import { lengthCheck } from './catalogue-columns.ts'
import { described, haveSameBytes, maxIndexedCharacters, textBases } from './column-types.ts'
import { modifyColumn, quoted } from '../../storage/mysql/dialect.ts'

/**
 * How MariaDB and MySQL change their tables. They commit each statement, so each of them leaves tables that fit or can
 * be changed.
 */
export const mysqlChanges: SchemaChangeText = {
  isTransactional: false,
  described,
  redeclare(table, column, { field, declared }) {
    const { name, hasConditions = false, notNull } = column
    if (hasConditions || !keepsValues(column, field.definition)) return undefined
    const { length } = described(declared)
    const statement = modifyColumn(
      table,
      { ...column, type: declared },
      notNull ? 'NOT NULL' : 'NULL',
    )
    if (length === undefined || !isLonger(column, length)) return [statement]
    // The server would cut spaces at the end of a string that is too long without an error.
    const check = quoted(lengthCheck)
    return [
      `ALTER TABLE ${quoted(table.name)} ADD CONSTRAINT ${check} CHECK (char_length(${quoted(name)}) <= ${length});`,
      statement.replace(/;$/, `, DROP CONSTRAINT ${check};`),
    ]
  },
  canIndex({ base, length = 0 }, parts) {
    if (!textBases.includes(base)) return true
    return ['char', 'varchar'].includes(base) && length <= Math.floor(maxIndexedCharacters / parts)
  },
  canRefer: ({ notNull, ...column }, target, onDelete) =>
    !(onDelete === 'setNull' && notNull) && haveSameBytes(column, target),
  allowNull: (table, column) => modifyColumn(table, column, 'NULL'),
  dropForeignKey: ({ name: table }, name) =>
    `ALTER TABLE ${quoted(table)} DROP FOREIGN KEY ${quoted(name)};`,
  dropColumn,
}

// The server would keep a unique index of the other columns, which rows may not meet, and reject to drop a column of a
// foreign key. A foreign key of the columns before may need the index.
function dropColumn({ name: table, indexes, foreignKeys }: Table, column: string): string {
  const keys = foreignKeys
    .filter(({ columns }) => columns.includes(column))
    .map(({ name }) => `DROP FOREIGN KEY ${quoted(name)}`)
  const uniques = indexes
    .filter((index) => index.unique && hasColumn(index, column))
    .flatMap(({ name = '', columns }) => {
      const end = columns.findIndex((each) => each.name === null || each.name === column)
      const before = columns.slice(0, end).map((each) => quoted(each.name ?? ''))
      const kept = before.length === 0 ? [] : [`ADD INDEX (${before.join(', ')})`]
      return [...kept, name === 'PRIMARY' ? 'DROP PRIMARY KEY' : `DROP INDEX ${quoted(name)}`]
    })
  const actions = [...keys, ...uniques, `DROP COLUMN ${quoted(column)}`]
  return `ALTER TABLE ${quoted(table)} ${actions.join(', ')};`
}

const wholeDigits: Readonly<Record<string, number>> = {
  ...{ tinyint: 3, smallint: 5, mediumint: 8, int: 10, bigint: 20 },
}

/** Returns whether a column may hold a string of more characters. */
function isLonger({ base, length = Infinity }: Column, than: number): boolean {
  return [...textBases, 'enum', 'set'].includes(base) && length > than
}

/** Returns whether every value of a column stays the same in the type of a field, or the server rejects it. */
function keepsValues(column: Column, field: Field): boolean {
  const { base, declared, scale, precision } = column
  if (declared.includes('zerofill')) return false
  const whole = wholeDigits[base]
  switch (field.type) {
    case 'text': {
      const isText = textBases.includes(base) || ['enum', 'set', 'uuid'].includes(base)
      return isText || whole !== undefined
    }
    case 'integer':
    case 'bigint': {
      const digits = field.type === 'integer' ? 15 : 18
      return base === 'decimal' && scale === 0 && precision !== undefined && precision <= digits
    }
    case 'decimal': {
      const after = whole === undefined ? scale : 0
      const before = whole ?? (precision === undefined ? undefined : precision - (scale ?? 0))
      if (after === undefined || before === undefined) return false
      if (whole === undefined && base !== 'decimal') return false
      return before <= field.precision - field.scale && after <= field.scale
    }
    case 'double':
      return ['tinyint', 'smallint', 'mediumint', 'int'].includes(base) || declared === 'float'
    case 'dateTime':
    case 'instant':
      return base === 'datetime' && scale !== undefined && scale < 3
    default:
      return false
  }
}
