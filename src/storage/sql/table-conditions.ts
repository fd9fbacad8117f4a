import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { ConditionOf } from '../../request/query.ts'
import { textSlot, type FieldCondition, type Locate, type Place } from './conditions.ts'
import type { ColumnType, Dialect, ListedValues, PlacedColumn, Tables } from './dialect.ts'
import { raw, sql, type Inputs, type Slot, type Sql } from './fragments.ts'
import { isStorable } from './stored-text.ts'
import { hasColumn, type Column, type Table } from '../../schema/model.ts'

/** Where a statement reads: the rows of a table under an alias. */
export interface TablePlace extends Place {
  readonly dialect: Dialect
  readonly found: Table
  readonly alias: string
  /** Returns the SQL of what is read of a field. */
  column(field: PublishedField): Sql
  /** Returns the SQL of the column of a field. */
  stored(field: PublishedField): Sql
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
    alias,
    aliases,
    column(field) {
      const type = typeOf(place, field)
      return type.returned?.(place.stored(field)) ?? valueOf(type, place.stored(field))
    },
    stored: (field) => name(dialect, alias, columnOf(found, field).name),
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
export function placedColumn(place: TablePlace, field: PublishedField): PlacedColumn {
  const { found } = place
  const type = typeOf(place, field)
  const { isText = false, parameter, write = String, near } = type
  const own = place.stored(field)
  const column = columnOf(found, field)
  const value = valueOf(type, own)
  return {
    sql: value,
    stored: own,
    column,
    isText,
    inOrder: isText && value !== own ? inOrder(place, column) : undefined,
    parameter: (slot) => parameter(slot, field.definition),
    written: write,
    near: near && ((slot, isList) => near(own, slot, isList)),
  }
}

function inOrder({ dialect, alias, found }: TablePlace, column: Column): PlacedColumn['inOrder'] {
  const other = found.columns.find(
    ({ name: own, orders }) =>
      orders === column.name && found.indexes.some((index) => hasColumn(index, own)),
  )
  return other && { name: other.name, sql: name(dialect, alias, other.name) }
}

/** Returns the expression of the value of a column. */
export function valueOf(type: ColumnType, column: Sql): Sql {
  return type.value?.(column) ?? column
}

/** Returns how the column of a field keeps its values. */
export function typeOf(
  { dialect, found }: Pick<TablePlace, 'dialect' | 'found'>,
  field: PublishedField,
): ColumnType {
  const types = typesOfTable.get(found) ?? new Map<PublishedField, ColumnType>()
  typesOfTable.set(found, types)
  let type = types.get(field)
  if (type === undefined) {
    type = dialect.kept(columnOf(found, field), field) ?? dialect.columnTypes[field.type]
    types.set(field, type)
  }
  return type
}

/** Returns whether the column of a field has the type of new columns, so that it compares and keeps values exactly. */
export function isPlainColumn(
  { dialect, find }: Tables,
  { table }: PublishedCollection,
  field: PublishedField,
): boolean {
  const found = find(table)
  return (
    found !== undefined && typeOf({ dialect, found }, field) === dialect.columnTypes[field.type]
  )
}

const typesOfTable = new WeakMap<Table, Map<PublishedField, ColumnType>>()

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
  { terms }: Dialect,
  column: PlacedColumn,
  { condition, at }: { readonly condition: FieldCondition; readonly at: Locate },
): Sql {
  const { isText, sql: value } = column
  const tested = column.inOrder?.sql ?? value
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
      return sql`(${tested} is null or ${terms.equal(column, { read: () => '' })})`
    case 'equal':
      return condition.value === null ? sql`${tested} is null` : terms.equal(column, slot)
    case 'in': {
      const { length } = condition.values
      // Read once for all parameters: each is one of the values.
      const listed = new WeakMap<Inputs, ReturnType<ListedValues>>()
      const values: ListedValues = (inputs) => {
        let found = listed.get(inputs)
        if (found === undefined) {
          found = (at(inputs) as ConditionOf<'in'>).values.filter(isStorable)
          listed.set(inputs, found)
        }
        return found
      }
      return terms.isIn(column, values, length)
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
