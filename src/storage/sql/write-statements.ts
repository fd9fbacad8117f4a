import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { StorageError, type Condition, type Row } from '../adapter.ts'
import { fieldOf, termsOf, where } from './conditions.ts'
import { bind, type BoundStatement } from '../pool/connection.ts'
import type { Tables, UpdateClauses } from './dialect.ts'
import { isAmount, join, sql, type RowChanges, type Sql } from './fragments.ts'
import { identityOf } from './shape.ts'
import { matchedShape } from './statements.ts'
import { isStorable } from './stored-text.ts'
import {
  columnOf,
  isPlainColumn,
  name,
  placedColumn,
  placeOf,
  tableName,
  typeOf,
  valueOf,
  type TablePlace,
} from './table-conditions.ts'
import type { Table } from '../../schema/model.ts'

/** Returns the statement that inserts a row. If inserts return rows, it returns the row complete. */
export function insertStatement(
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
): BoundStatement {
  return bind(insertText(tables, collection, row), { conditions: [], row })
}

/** Returns whether an insert into the table of a collection returns its rows. */
export function returnsInserts({ dialect, find }: Tables, { table }: PublishedCollection): boolean {
  return dialect.writes.returning.includes('insert') && find(table)?.returnsInserts !== false
}

/** Returns the text of a statement that inserts so many rows with values for the same fields as a row. */
export function insertText(
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
  count = 1,
): Sql {
  const table = tables.find(collection.table)
  const given = collection.fields.filter((field) => isGiven(field, row[field.name], table))
  const names = given.map((field) => field.name).join('\0')
  return tables.texts.find(`insert${identityOf(collection)}\0${names}\0${count}`, () => {
    const { dialect } = tables
    const { writes } = dialect
    const place = placeOf(tables, collection)
    const own = (field: PublishedField): Sql => name(dialect, columnOf(place.found, field).name)
    const values = given.map((field) => rowParameter(place, field))
    const rows = Array.from({ length: count }, () => values)
    const insert = writes.insert(tableName(dialect, place.found), given.map(own), rows)
    if (!returnsInserts(tables, collection)) return insert
    const all = collection.fields.map((field) => valueOf(typeOf(place, field), own(field)))
    if (count > 1 && writes.joined !== undefined) {
      return writes.joined(insert, { found: place.found, values: all, count })
    }
    return sql`${insert} returning ${join(all)}`
  })
}

/** Returns whether an insert names the column of a field. */
function isGiven(
  { column, generated }: PublishedField,
  value: StoredValue | undefined,
  table: Table | undefined,
): boolean {
  if (value === undefined) return false
  if (value !== null) return true
  if (generated === 'database') return false
  // A column without a default is null even if the role must not name it.
  const found = table?.find(column)
  return found?.isInsertable !== false || found.hasDefault
}

/** Returns the statement of the complete row that was inserted, by its key. The server may have numbered a part of it. */
export function insertedStatement(
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
): BoundStatement {
  const isMissing = ({ name: field }: PublishedField): boolean => (row[field] ?? null) === null
  const shape = `inserted${identityOf(collection)}\0${collection.key.map(isMissing).join('\0')}`
  const text = tables.texts.find(shape, () => {
    const { lastNumber } = tables.dialect.writes
    const place = placeOf(tables, collection)
    const terms = collection.key.map((field) => {
      const isNumbered = isMissing(field) && columnOf(place.found, field).numberedBy !== undefined
      return lastNumber !== undefined && isNumbered
        ? sql`${place.column(field)} = ${lastNumber}`
        : sql`${place.column(field)} = ${rowParameter(place, field)}`
    })
    return sql`select ${complete(place)} from ${place.table}${where(terms)}`
  })
  return bind(text, { conditions: [], row })
}

/** Returns whether an update can add an amount to a field: its column has exact numbers, as new columns of its type. */
export function canIncrement(
  tables: Tables,
  collection: PublishedCollection,
  field: PublishedField,
): boolean {
  const isUpdatable = tables.find(collection.table)?.find(field.column)?.isUpdatable !== false
  const isNumber = field.type === 'integer' || field.type === 'bigint' || field.type === 'decimal'
  return isNumber && isUpdatable && isPlainColumn(tables, collection, field)
}

/** Returns the statement that changes a row. If updates return rows, it returns the row complete. */
export function updateStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  changes: RowChanges,
): BoundStatement {
  const shape = `update${updateShape(tables, collection, conditions, changes)}`
  const text = tables.texts.find(shape, () => {
    const clauses = updateClauses(tables, collection, { conditions, changes })
    const { table, terms, returned } = clauses
    const update = sql`update ${table} set ${assignments(clauses)}${where(terms)}`
    if (!tables.dialect.writes.returning.includes('update')) return update
    return sql`${update} returning ${returned}`
  })
  return bind(text, { conditions, row: changes })
}

function updateShape(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  changes: RowChanges,
): string {
  const matched = matchedShape(tables, collection, { conditions, search: null })
  const names = Object.keys(changes).map((name) => (isAmount(changes[name]) ? `+${name}` : name))
  return `${matched}\0${names.join('\0')}`
}

/** Returns what follows SET. */
export function assignments({ changes }: Pick<UpdateClauses, 'changes'>): Sql {
  return join(changes.map(({ column, value }) => sql`${column} = ${value}`))
}

/** Returns what the statement that changes a row consists of. */
export function updateClauses(
  tables: Tables,
  collection: PublishedCollection,
  {
    conditions,
    changes,
  }: { readonly conditions: readonly Condition[]; readonly changes: RowChanges },
): UpdateClauses {
  const place = placeOf(tables, collection)
  const terms = termsOf(place, conditions)
  return {
    table: place.table,
    changes: Object.keys(changes).map((changed) => {
      const field = fieldOf(collection, changed)
      const stored = place.stored(field)
      const value = rowParameter(place, field, stored)
      return {
        column: name(tables.dialect, columnOf(place.found, field).name),
        value: isAmount(changes[changed]) ? sql`${stored} + ${value}` : value,
      }
    }),
    terms,
    key: terms.filter((_, index) => isOfKey(collection, conditions[index])),
    returned: complete(place),
  }
}

/** Returns the conditions of a write that name its row. */
export function keyConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
): readonly Condition[] {
  return conditions.filter((condition) => isOfKey(collection, condition))
}

function isOfKey({ key }: PublishedCollection, condition: Condition | undefined): boolean {
  return condition?.is === 'equal' && key.some(({ name: own }) => own === condition.field)
}

/** Returns the statement that deletes a row. If deletes return rows, it returns the row as it was. */
export function deleteStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): BoundStatement {
  const matched = matchedShape(tables, collection, { conditions, search: null })
  const text = tables.texts.find(`delete${matched}`, () => {
    const { dialect } = tables
    if (dialect.writes.returning.includes('delete')) {
      const place = placeOf(tables, collection)
      const terms = where(termsOf(place, conditions))
      return sql`delete from ${place.table}${terms} returning ${complete(place)}`
    }
    // Such databases allow no other name for the table of a delete.
    const { found } = placeOf(tables, collection)
    const place = placeOf(tables, collection, found.name)
    const table = tableName(dialect, found)
    return sql`delete from ${table}${where(termsOf(place, conditions))}`
  })
  return bind(text, { conditions })
}

/** Returns the statement of the complete row that meets conditions. It may lock the row until the transaction ends. */
export function rowStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  lock: '' | ' for update',
): BoundStatement {
  const matched = matchedShape(tables, collection, { conditions, search: null })
  const text = tables.texts.find(`row${lock}${matched}`, () => {
    const place = placeOf(tables, collection)
    const row = sql`select ${complete(place)} from ${place.table}${where(termsOf(place, conditions))}`
    return lock === '' ? row : sql`${row} for update`
  })
  return bind(text, { conditions })
}

function rowParameter(place: TablePlace, field: PublishedField, stored?: Sql): Sql {
  const { database, writes } = place.dialect
  const { column, parameter, written } = placedColumn(place, field)
  const given = parameter({
    read({ row }) {
      const value = row?.[field.name] ?? null
      if (value === null) return null
      if (isAmount(value)) return value.amount
      if (!isStorable(value)) {
        throw new TypeError(
          `The value of ${field.name} has U+0000 or a lone surrogate, which ${database} can't store.`,
        )
      }
      if (writes.changes?.(column, value) === true) {
        const cause = new Error(`the column of ${field.name} would keep another value`)
        throw new StorageError('invalid', { fields: [field.name], cause })
      }
      return written(value)
    },
  })
  return typeOf(place, field).assigned?.(given, stored) ?? given
}

function complete(place: TablePlace): Sql {
  return join(place.collection.fields.map((field) => place.column(field)))
}
