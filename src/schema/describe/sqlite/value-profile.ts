import { isUtf8 } from 'node:buffer'
import type { Field } from '../../../definition/field.ts'
import {
  rowsOf,
  type Connection,
  type SqliteValue,
} from '../../../storage/sqlite/connection/connection.ts'
import { fitCondition } from '../../../storage/sqlite/forms/forms.ts'
import { isFieldJson, jsonFunction } from '../../sqlite/unfit-rows.ts'
import { quoted, raw, type Sql } from '../../../storage/sql/fragments.ts'
import type { CatalogueColumn } from '../../catalogue-tables.ts'

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

const validUtf8 = 'rowgate_valid_utf8'

/** Defines the functions that {@link fitTerm} calls. */
export function defineFunctions(connection: Connection): void {
  connection.define(validUtf8, (value) => (value instanceof Uint8Array && isUtf8(value) ? 1 : 0))
  connection.define(jsonFunction, isFieldJson)
}

/** Returns the condition that a value of a column, other than null, is one of a field. */
export function fitTerm(_value: Sql, { name }: Pick<CatalogueColumn, 'name'>, field: Field): Sql {
  const column = quoted(name)
  const terms = [fitCondition(column, field)]
  // Most strings are ASCII, and need no call of a function.
  const isAscii = `${column} NOT GLOB '*[^' || char(1) || '-' || char(127) || ']*'`
  if (field.type === 'text' || field.type === 'json')
    terms.push(`${isAscii} OR ${validUtf8}(CAST(${column} AS BLOB))`)
  if (field.type === 'json') terms.push(`${jsonFunction}(${column})`)
  // SQLite does not check the length that a column declares.
  if (field.type === 'text' && field.maxLength !== undefined)
    terms.push(`length(${column}) <= ${field.maxLength}`)
  return raw(terms.map((term) => `(${term})`).join(' AND '))
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
