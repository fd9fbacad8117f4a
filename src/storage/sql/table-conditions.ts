import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { ConditionOf } from '../../request/query.ts'
import { textSlot, type FieldCondition, type Locate, type Place } from './conditions.ts'
import type { Dialect, PlacedColumn, Tables } from './dialect.ts'
import { raw, sql, type Slot, type Sql } from './fragments.ts'
import type { Column, Table } from './tables.ts'

/** Where a statement reads: the rows of a table under an alias. */
export interface TablePlace extends Place {
  readonly dialect: Dialect
  readonly found: Table
  /** Returns the SQL of the column of a field. */
  column(field: PublishedField): Sql
}

/** Returns the place of a collection. Throws a TypeError if it was not opened. */
export function placeOf(
  tables: Tables,
  collection: PublishedCollection,
  alias = 't',
  aliases = { count: 0 },
): TablePlace {
  const { dialect } = tables
  const found = tableOf(tables, collection)
  const place: TablePlace = {
    collection,
    dialect,
    found,
    aliases,
    column: (field) => name(dialect, alias, columnOf(found, field).name),
    table: sql`${tableName(dialect, found)} as ${name(dialect, alias)}`,
    other: (target, other) => placeOf(tables, target, other, aliases),
    equals: (field, other, part) =>
      dialect.terms.same(placedColumn(other as TablePlace, part), placedColumn(place, field)),
    fieldTerm: (field, condition, at) =>
      fieldTerm(dialect, placedColumn(place, field), { condition, at }),
  }
  return place
}

/** Returns the column of a field with what its comparisons depend on. */
export function placedColumn(
  { dialect, found, column }: TablePlace,
  field: PublishedField,
): PlacedColumn {
  const { isText = false, parameter, write = String } = dialect.columnTypes[field.type]
  return {
    sql: column(field),
    column: columnOf(found, field),
    isText,
    parameter: (slot) => parameter(slot, field.definition),
    written: write,
  }
}

/** Returns names in quotes, with points between them. */
export function name({ quoted }: Dialect, ...names: readonly string[]): Sql {
  return raw(names.map(quoted).join('.'))
}

/** Returns the name of a table, with its schema. */
export function tableName(dialect: Dialect, { schema, name: table }: Table): Sql {
  return name(dialect, schema, table)
}

/** Returns the column of a field. */
export function columnOf(table: Table, { column }: PublishedField): Column {
  return table.find(column) as Column
}

function tableOf(tables: Tables, { application, name: own, table }: PublishedCollection): Table {
  const found = tables.find(table)
  if (found !== undefined) return found
  throw new TypeError(`${application}/${own}: the storage has not been opened for this collection`)
}

const operators = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

function fieldTerm(
  { terms, isStorable }: Dialect,
  column: PlacedColumn,
  { condition, at }: { readonly condition: FieldCondition; readonly at: Locate },
): Sql {
  const { isText, sql: value } = column
  // No stored string equals or contains one that the database can't represent: nothing equals null.
  const storable = (text: string | null): string | null => (isStorable(text) ? text : null)
  const slot: Slot = {
    read: (inputs) => {
      const { value: given } = at(inputs) as ConditionOf<'equal'>
      return given === null || !isStorable(given) ? null : column.written(given)
    },
  }
  switch (condition.is) {
    case 'empty':
      if (!isText) return sql`${value} is null`
      return sql`(${value} is null or ${terms.equal(column, { read: () => '' })})`
    case 'equal':
      return condition.value === null ? sql`${value} is null` : terms.equal(column, slot)
    case 'in': {
      const { length } = condition.values
      return terms.isIn(
        column,
        (inputs) => (at(inputs) as ConditionOf<'in'>).values.filter(isStorable),
        length,
      )
    }
    case 'contains':
      return terms.contains(column, textSlot(at, storable))
    case 'startsWith':
      return terms.startsWith(column, (change = (text) => text) =>
        textSlot(at, (text) => (isStorable(text) ? change(text) : null)),
      )
    default: {
      const operator = operators[condition.is]
      return sql`${terms.ordered(column)} ${operator} ${column.parameter(slot)}`
    }
  }
}
