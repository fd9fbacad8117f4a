import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { ConditionOf } from '../../request/query.ts'
import type { Condition } from '../adapter.ts'
import { identifier, join, sql, type Sql } from '../sql.ts'
import type { Column, Table, Tables } from './tables.ts'
import { bound, boundList, columnTypes, isStorable } from './column-types.ts'

/** Where a statement reads: the rows of a collection under an alias. */
export interface Place {
  readonly collection: PublishedCollection
  readonly table: Table
  readonly alias: string
  readonly tables: Tables
  /** The number of aliases in the statement so far. */
  readonly aliases: { count: number }
}

/** Returns the place of a collection. Throws a TypeError if it was not opened. */
export function placeOf(tables: Tables, collection: PublishedCollection): Place {
  const table = tableOf(tables, collection)
  return { collection, table, alias: 't', tables, aliases: { count: 0 } }
}

function tableOf(tables: Tables, { application, name, table }: PublishedCollection): Table {
  const found = tables.find(table)
  if (found !== undefined) return found
  throw new TypeError(`${application}/${name}: the storage has not been opened for this collection`)
}

/** Returns the name of a table, with its schema. */
export function tableName({ schema, name }: Pick<Table, 'schema' | 'name'>): Sql {
  return identifier(schema, name)
}

/** Returns a field by name. Throws a TypeError if the collection has none. */
export function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field !== undefined) return field
  throw new TypeError(`${collection.application}/${collection.name} has no field ${name}`)
}

/** Returns the column of a field. */
export function columnOf({ table }: Pick<Place, 'table'>, field: PublishedField): Column {
  return table.find(field.column) as Column
}

/** Returns the SQL of the column of a field. */
export function columnAt(place: Place, field: PublishedField): Sql {
  return identifier(place.alias, columnOf(place, field).name)
}

/** Returns a column as it is ordered: text by code point. */
export function ordered(place: Place, field: PublishedField): Sql {
  const column = columnAt(place, field)
  return columnTypes[field.type].isText === true ? sql`${column} collate "C"` : column
}

/** Returns the terms that must all hold. */
export function termsOf(place: Place, conditions: readonly Condition[]): readonly Sql[] {
  return conditions.map((condition) => term(place, condition))
}

/** Returns the WHERE clause of terms. Empty, or it starts with a space. */
export function where(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`` : sql` where ${join(terms, sql` and `)}`
}

function term(place: Place, condition: Condition): Sql {
  switch (condition.is) {
    case 'and':
    case 'or': {
      const terms = termsOf(place, condition.conditions)
      if (terms.length === 0) return condition.is === 'and' ? sql`true` : sql`false`
      return sql`(${join(terms, condition.is === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      // A comparison with a column without value is null.
      return sql`((${term(place, condition.condition)}) is not true)`
    case 'through':
      return through(place, condition)
    default:
      return fieldTerm(place, condition)
  }
}

function through(place: Place, { collection, fields, conditions }: ConditionOf<'through'>): Sql {
  place.aliases.count += 1
  const other: Place = {
    ...place,
    collection,
    table: tableOf(place.tables, collection),
    alias: `p${place.aliases.count}`,
  }
  const keys = collection.key.map((part, index) => {
    const field = fieldOf(place.collection, fields[index] as string)
    const equal = sql`${columnAt(other, part)} = ${columnAt(place, field)}`
    // Equality of two collations must name one, with which an index of another collation is not used.
    const isMixed = columnOf(other, part).collation !== columnOf(place, field).collation
    return isMixed && columnTypes[part.type].isText === true ? sql`${equal} collate "C"` : equal
  })
  const from = sql`${tableName(other.table)} as ${identifier(other.alias)}`
  return sql`exists (select from ${from}${where([...keys, ...termsOf(other, conditions)])})`
}

type FieldCondition = Extract<Condition, { readonly field: string }>

const operators = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

function fieldTerm(place: Place, condition: FieldCondition): Sql {
  const field = fieldOf(place.collection, condition.field)
  const type = columnTypes[field.type]
  const column = columnAt(place, field)
  switch (condition.is) {
    case 'empty':
      return type.isText === true
        ? sql`(${column} is null or ${column} = '')`
        : sql`${column} is null`
    case 'equal':
      if (condition.value === null) return sql`${column} is null`
      // No stored string equals one that PostgreSQL can't represent.
      if (!isStorable(condition.value)) return sql`false`
      return sql`${column} = ${bound(type, condition.value)}`
    case 'in':
      return sql`${column} = any(${boundList(type, condition.values.filter(isStorable))})`
    case 'contains':
    case 'startsWith': {
      if (!isStorable(condition.text)) return sql`false`
      const text = bound(columnTypes.text, condition.text)
      return condition.is === 'contains'
        ? sql`strpos(${ordered(place, field)}, ${text}) > 0`
        : sql`starts_with(${ordered(place, field)}, ${text})`
    }
    default:
      return sql`${ordered(place, field)} ${operators[condition.is]} ${bound(type, condition.value)}`
  }
}
