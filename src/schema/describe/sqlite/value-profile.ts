import { isUtf8 } from 'node:buffer'
import type { Field } from '../../../definition/field.ts'
import type { Affinity } from '../../sqlite/column-types.ts'
import {
  rowsOf,
  type Connection,
  type SqliteValue,
} from '../../../storage/sqlite/connection/connection.ts'
import { fitCondition } from '../../../storage/sqlite/forms/forms.ts'
import { isFieldJson, jsonFunction } from '../../sqlite/unfit-rows.ts'
import { quoted } from '../../../storage/sql/fragments.ts'

/** The kind of a value. In SQLite, all numbers are smaller than all strings, and blobs are larger than both. */
export type ValueKind = 'null' | 'number' | 'text' | 'blob'

/** What the values of a column are. Every row of the table is read. */
export interface ValueProfile {
  readonly hasNull: boolean
  /** The kinds of the smallest and the largest value. `null` without values. */
  readonly kinds: readonly [smallest: ValueKind, largest: ValueKind]
  /** The first characters of the smallest and the largest value. */
  readonly bounds: readonly [smallest: string, largest: string]
}

// Statements of wide tables would take long to compile.
const columnsAtOnce = 40
const shownLength = 40

/** Reads the profiles of columns, in their order. */
export function profileColumns(
  connection: Connection,
  table: string,
  columns: readonly string[],
): readonly ValueProfile[] {
  return inGroups(columns, (group) => {
    const row = aggregate(connection, table, group.flatMap(profileExpressions))
    return group.map((_, index) => profileOf(row.slice(index * 5, index * 5 + 5)))
  })
}

function profileExpressions(name: string): readonly string[] {
  const column = quoted(name)
  // As text: a driver can't return a 64-bit integer as a number.
  const start = (value: string): string => `substr(CAST(${value} AS TEXT), 1, ${shownLength})`
  const [smallest, largest] = [`min(${column})`, `max(${column})`]
  return [
    `count(*) > count(${column})`,
    ...[smallest, largest].map((value) => `typeof(${value})`),
    ...[smallest, largest].map(start),
  ]
}

function profileOf(values: readonly SqliteValue[]): ValueProfile {
  const [hasNull, ...others] = values
  const [first, last, smallest, largest] = others.map((value) => String(value ?? ''))
  return {
    hasNull: hasNull === 1,
    kinds: [kindOf(first), kindOf(last)],
    bounds: [smallest ?? '', largest ?? ''],
  }
}

function kindOf(type: string | undefined): ValueKind {
  return type === 'text' || type === 'blob' || type === 'null' ? type : 'number'
}

/** A column, and the fields that it may be. */
export interface Candidates {
  readonly column: string
  readonly fields: readonly Field[]
}

/** Returns those fields of each column that every value of the column fits. */
export function fittingFields(
  connection: Connection,
  table: string,
  candidates: readonly Candidates[],
): readonly (readonly Field[])[] {
  const isUtf8Database = rowsOf(connection, 'PRAGMA encoding')[0]?.[0] === 'UTF-8'
  if (isUtf8Database) connection.define(validUtf8, isValidUtf8)
  connection.define(jsonFunction, isFieldJson)
  const tests = candidates.flatMap(({ column, fields }) =>
    fields.map((field) => misfits(quoted(column), field, isUtf8Database)),
  )
  const counts = inGroups(tests, (group) => aggregate(connection, table, group)).values()
  return candidates.map(({ fields }) => fields.filter(() => counts.next().value === 0))
}

const validUtf8 = 'rowgate_valid_utf8'

function isValidUtf8(value: unknown): SqliteValue {
  return value instanceof Uint8Array && isUtf8(value) ? 1 : 0
}

/** Returns the expression of the number of values that do not fit a field. */
function misfits(column: string, field: Field, isUtf8Database: boolean): string {
  const terms = [fitCondition(column, field)]
  // Most strings are ASCII, and need no call of a function.
  const isAscii = `${column} NOT GLOB '*[^' || char(1) || '-' || char(127) || ']*'`
  if ((field.type === 'text' || field.type === 'json') && isUtf8Database)
    terms.push(`${isAscii} OR ${validUtf8}(CAST(${column} AS BLOB))`)
  if (field.type === 'json') terms.push(`${jsonFunction}(${column})`)
  // SQLite does not check the length that a column declares.
  if (field.type === 'text' && field.maxLength !== undefined)
    terms.push(`length(${column}) <= ${field.maxLength}`)
  const fits = terms.map((term) => `(${term})`).join(' AND ')
  return `count(CASE WHEN ${column} IS NULL OR ${fits} THEN NULL ELSE 1 END)`
}

/** A column with a default. */
export interface DefaultedColumn {
  /** The name of an affinity is also a declared type with this affinity. */
  readonly affinity: Affinity
  /** The expression of its default. */
  readonly default: string
}

// Tables of this prefix are left out of the description.
const defaultTable = 'rowgate_default'

/**
 * Returns those fields that the default of a column fits: it is stored in a temporary table, which converts it as
 * the column does. Returns all fields if the default can't be computed, for example because it calls a function of
 * the application.
 */
export function fieldsOfDefault(
  connection: Connection,
  column: DefaultedColumn,
  fields: readonly Field[],
): readonly Field[] {
  if (!storeDefault(connection, column)) return fields
  const [fitting = []] = fittingFields(connection, defaultTable, [{ column: 'value', fields }])
  connection.execute(`DROP TABLE temp.${defaultTable}`)
  return fitting
}

function storeDefault(
  connection: Connection,
  { affinity, default: value }: DefaultedColumn,
): boolean {
  // Only without parentheses, a name in double quotes is a string.
  return [`(${value})`, value].some((expression) => {
    try {
      connection.execute(
        `CREATE TEMP TABLE ${defaultTable} (value ${affinity} DEFAULT ${expression})`,
      )
    } catch {
      return false
    }
    try {
      connection.execute(`INSERT INTO temp.${defaultTable} DEFAULT VALUES`)
      return true
    } catch {
      connection.execute(`DROP TABLE temp.${defaultTable}`)
      return false
    }
  })
}

/** Returns how many values of a column are of each storage class: `3 text`. */
export function countKinds(
  connection: Connection,
  table: string,
  column: string,
): readonly string[] {
  const kind = `typeof(${quoted(column)})`
  const statement = `SELECT count(*) || ' ' || ${kind} FROM ${quoted(table)} WHERE ${kind} <> 'null' GROUP BY ${kind} ORDER BY 1`
  return rowsOf(connection, statement).map(([count]) => String(count))
}

function aggregate(
  connection: Connection,
  table: string,
  expressions: readonly string[],
): readonly SqliteValue[] {
  const statement = `SELECT ${expressions.join(', ')} FROM ${quoted(table)}`
  return rowsOf(connection, statement)[0] as readonly SqliteValue[]
}

function inGroups<Item, Result>(
  items: readonly Item[],
  read: (group: readonly Item[]) => readonly Result[],
): readonly Result[] {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += columnsAtOnce)
    results.push(...read(items.slice(at, at + columnsAtOnce)))
  return results
}
