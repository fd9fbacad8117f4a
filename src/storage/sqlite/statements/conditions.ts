import type { PublishedField } from '../../../definition/published-field.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import type { ConditionOf } from '../../../request/query.ts'
import type { Condition } from '../../adapter.ts'
import {
  keyTerms,
  otherPlace,
  slotCount,
  termOf,
  termsOf,
  textSlot,
  topLevel,
  within,
  type FieldCondition,
  type Locate,
  type Place,
} from '../../sql/conditions.ts'
import { identifier, join, sql, type Inputs, type Slot, type Sql } from '../../sql/fragments.ts'
import type { ListSlots } from '../../sql/shape.ts'
import { columnTypeOf } from './columns.ts'
import type { SqliteValue } from '../connection/connection.ts'
import { columnOf } from '../reading/guaranteed-values.ts'

/** The SQL of conditions. */
export interface Matching {
  /** The tables that the conditions join. Empty, or it starts with a space. */
  readonly joins: Sql
  /** The terms that must hold. */
  readonly terms: readonly Sql[]
}

/** Where conditions are evaluated in a statement of SQLite. */
interface SqlitePlace extends Place {
  readonly column: (field: PublishedField) => Sql
}

/**
 * Returns the SQL of the conditions of a query. Rows of other collections are joined, so that SQLite may
 * start with either table: a key finds at most one row.
 */
export function joinedConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  column: SqlitePlace['column'],
): Matching {
  const joined: Joined = { joins: [], terms: [] }
  addConditions(placeOf(collection, column), conditions, topLevel, joined)
  return { joins: join(joined.joins, sql``), terms: joined.terms }
}

/** Returns the terms of the conditions of a write, which contain the key of one row. */
export function writeConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  column: SqlitePlace['column'],
): readonly Sql[] {
  return termsOf(placeOf(collection, column), conditions)
}

interface Joined {
  readonly joins: Sql[]
  readonly terms: Sql[]
}

function addConditions(
  place: Place,
  conditions: readonly Condition[],
  locate: (index: number) => Locate,
  joined: Joined,
): void {
  for (const [index, condition] of conditions.entries()) {
    if (condition.is !== 'through') {
      const term = termOf(place, condition, locate(index))
      const isOwnEqual = condition.is === 'equal' && locate === topLevel
      joined.terms.push(
        isOwnEqual ? { ...term, slots: term.slots.map((slot) => ({ ...slot, isOwnEqual })) } : term,
      )
      continue
    }
    const other = otherPlace(place, condition)
    const on = join(keyTerms(place, condition, other), sql` and `)
    joined.joins.push(sql` join ${other.table} on ${on}`)
    addConditions(other, condition.conditions, within(locate(index)), joined)
  }
}

function placeOf(
  collection: PublishedCollection,
  column: SqlitePlace['column'],
  aliases = { count: 0 },
  alias = 't',
): SqlitePlace {
  return {
    collection,
    column,
    aliases,
    table: sql`${identifier(collection.table)} as ${identifier(alias)}`,
    other: (target, name) => placeOf(target, columnOf(name), aliases, name),
    equals: (field, other, part) =>
      sameValue([part, (other as SqlitePlace).column(part)], [field, column(field)]),
    fieldTerm: (field, condition, at) => fieldTerm({ field, column: column(field), at }, condition),
  }
}

/** Returns the term that two columns have the same value. An index on the first one serves it if their forms are the same. */
export function sameValue(
  [field, column]: readonly [PublishedField, Sql],
  [other, otherColumn]: readonly [PublishedField, Sql],
): Sql {
  const [type, otherType] = [columnTypeOf(field), columnTypeOf(other)]
  // Columns with different forms hold equal values differently.
  if (field.storedAs !== other.storedAs)
    return sql`${type.read(column)} = ${otherType.read(otherColumn)}`
  return sql`${type.exactly(column)} = ${type.exactly(otherColumn)}`
}

interface FieldPlace {
  readonly field: PublishedField
  readonly column: Sql
  readonly at: Locate
}

function fieldTerm({ field, column, at }: FieldPlace, condition: FieldCondition): Sql {
  const type = columnTypeOf(field)
  switch (condition.is) {
    case 'empty':
      return type.hasEmptyString
        ? sql`(${column} is null or ${type.exactly(column)} = '')`
        : sql`${column} is null`
    case 'equal': {
      if (condition.value === null) return sql`${column} is null`
      return sql`${type.exactly(column)} = ${valueSlot(field, at)}`
    }
    case 'in':
      return sql`${type.exactly(column)} in (${listOf(field, condition.values.length, at)})`
    case 'contains':
      return sql`instr(${column}, ${textSlot(at)}) > 0`
    case 'startsWith': {
      const text = textSlot(at)
      // In the order of bytes, texts with the same start follow each other, so that an index finds them. The planner
      // compares the ends of the range with its statistics only if they are parameters.
      const end: Slot = {
        read: (inputs) => firstAfter((at(inputs) as ConditionOf<'startsWith'>).text),
      }
      const range = sql`${type.exactly(column)} >= ${text} and ${type.exactly(column)} < ${end}`
      return sql`(${range} and substr(${column}, 1, length(${text})) = ${text})`
    }
    default:
      return type.compare(column, operators[condition.is], sql`${valueSlot(field, at)}`)
  }
}

const operators = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

function valueSlot(field: PublishedField, at: Locate): Slot {
  const { bind } = columnTypeOf(field)
  return {
    read(inputs) {
      const { value } = at(inputs) as { readonly value: string | number | boolean }
      return bind(value)
    },
  }
}

// A JSON list is one parameter, whatever its length.
function listOf(field: PublishedField, length: number, at: Locate): Sql {
  const { bind, hasExactJson } = columnTypeOf(field)
  const valuesIn = (inputs: Inputs) => (at(inputs) as ConditionOf<'in'>).values
  if (hasExactJson) {
    const slot: Slot = { read: (inputs) => listText(valuesIn(inputs).map(bind)) }
    return sql`select value from json_each(${slot})`
  }
  const slots = Array.from({ length: slotCount(length) }, (_, index): Sql => {
    const slot: Slot = {
      read: (inputs) => {
        const values = valuesIn(inputs)
        const value = values[index] ?? values.at(-1)
        return value === undefined ? null : bind(value)
      },
    }
    return sql`${slot}`
  })
  return join(slots)
}

function listText(values: readonly SqliteValue[]): string {
  return `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value))).join(',')}]`
}

/** Returns the number of parameters of a list in a statement of SQLite. */
export const listSlots: ListSlots = (field, length) =>
  columnTypeOf(field).hasExactJson ? 1 : slotCount(length)

/** Returns the first text after all texts with this start; a blob, which follows every text, if there is none. */
function firstAfter(text: string): string | Uint8Array {
  const points = Array.from(text, (one) => one.codePointAt(0) as number)
  while (points.at(-1) === 0x10_ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return new Uint8Array()
  // The code points of surrogates are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
