import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { ConditionOf } from '../../request/query.ts'
import type { Condition } from '../adapter.ts'
import { columnTypeOf } from './columns.ts'
import type { SqliteValue } from './connection.ts'
import { columnOf, fieldOf } from './reading.ts'
import { identifier, join, sql, type Inputs, type Slot, type Sql } from '../sql.ts'

/** The SQL of conditions. */
export interface Matching {
  /** The tables that the conditions join. Empty, or it starts with a space. */
  readonly joins: Sql
  /** The terms that must hold. */
  readonly terms: readonly Sql[]
}

/** Where conditions are evaluated: on the rows of a collection. */
interface Place {
  readonly collection: PublishedCollection
  readonly column: (field: PublishedField) => Sql
  /** The number of aliases in the statement so far. */
  readonly aliases: { count: number }
}

/** Returns a condition of the values that a statement binds. */
type Locate = (inputs: Inputs) => Condition | undefined

/**
 * Returns the SQL of the conditions of a query. Rows of other collections are joined, so that SQLite may
 * start with either table: a key finds at most one row.
 */
export function joinedConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  column: Place['column'],
): Matching {
  const joined: Joined = { joins: [], terms: [] }
  addConditions({ collection, column, aliases: { count: 0 } }, conditions, topLevel, joined)
  return { joins: join(joined.joins, sql``), terms: joined.terms }
}

/** Returns the terms of the conditions of a write, which contain the key of one row. */
export function writeConditions(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  column: Place['column'],
): readonly Sql[] {
  return termsOf({ collection, column, aliases: { count: 0 } }, conditions, topLevel)
}

/** Returns whether a condition reads another table. */
export function readsOthers(condition: Condition): boolean {
  switch (condition.is) {
    case 'through':
      return true
    case 'and':
    case 'or':
      return condition.conditions.some(readsOthers)
    case 'not':
      return readsOthers(condition.condition)
    default:
      return false
  }
}

const topLevel =
  (index: number): Locate =>
  ({ conditions }) =>
    conditions[index]

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
      joined.terms.push(term(place, condition, locate(index)))
      continue
    }
    const other = otherPlace(place, condition)
    const on = join(keyTerms(place, condition, other), sql` and `)
    joined.joins.push(sql` join ${other.table} on ${on}`)
    addConditions(other, condition.conditions, within(locate(index)), joined)
  }
}

function termsOf(
  place: Place,
  conditions: readonly Condition[],
  locate: (index: number) => Locate,
): readonly Sql[] {
  return conditions.map((condition, index) => term(place, condition, locate(index)))
}

/** Returns the condition as a term: 1, or 0 or null if a row does not meet it. */
function term(place: Place, condition: Condition, at: Locate): Sql {
  switch (condition.is) {
    case 'and':
    case 'or': {
      const terms = termsOf(place, condition.conditions, within(at))
      if (terms.length === 0) return condition.is === 'and' ? sql`1` : sql`0`
      return sql`(${join(terms, condition.is === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not': {
      const negated = term(place, condition.condition, (inputs) => {
        const found = at(inputs)
        return found?.is === 'not' ? found.condition : undefined
      })
      return sql`(${negated}) is not true`
    }
    case 'through': {
      const other = otherPlace(place, condition)
      const inner = termsOf(other, condition.conditions, within(at))
      const terms = [...keyTerms(place, condition, other), ...inner]
      return sql`exists (select 1 from ${other.table} where ${join(terms, sql` and `)})`
    }
    default: {
      const field = fieldOf(place.collection, condition.field)
      return fieldTerm({ field, column: place.column(field), at }, condition)
    }
  }
}

/** Returns how the conditions inside of a condition are found. */
function within(at: Locate): (index: number) => Locate {
  return (index) => (inputs) => {
    const outer = at(inputs)
    return outer !== undefined && 'conditions' in outer ? outer.conditions[index] : undefined
  }
}

function otherPlace(
  { aliases }: Place,
  { collection }: ConditionOf<'through'>,
): Place & { readonly table: Sql } {
  aliases.count += 1
  const alias = `p${aliases.count}`
  const table = sql`${identifier(collection.table)} as ${identifier(alias)}`
  return { collection, column: columnOf(alias), aliases, table }
}

function keyTerms(
  place: Place,
  { fields, collection }: ConditionOf<'through'>,
  other: Place,
): readonly Sql[] {
  return collection.key.map((part, index) => {
    const field = fieldOf(place.collection, fields[index] as string)
    const [own, target] = [columnTypeOf(field), columnTypeOf(part)]
    // Columns with different forms hold equal values differently.
    if (field.storedAs !== part.storedAs) {
      return sql`${target.read(other.column(part))} = ${own.read(place.column(field))}`
    }
    return sql`${target.exactly(other.column(part))} = ${target.exactly(place.column(field))}`
  })
}

type FieldCondition = Extract<Condition, { readonly field: string }>

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
      const after = textSlot(at, firstAfter)
      // In the order of bytes, texts with the same start follow each other, so that an index finds them. The
      // text after them is known in UTF-8 only. A blob comes after all texts.
      const end = sql`ifnull(case when length(cast('a' as blob)) = 1 then ${after} end, x'')`
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

function textSlot(at: Locate, change: (text: string) => string | null = (text) => text): Slot {
  return { read: (inputs) => change((at(inputs) as ConditionOf<'contains' | 'startsWith'>).text) }
}

// A JSON list is one parameter, whatever its length.
function listOf(field: PublishedField, length: number, at: Locate): Sql {
  const { bind, hasExactJson } = columnTypeOf(field)
  const valuesIn = (inputs: Inputs): readonly SqliteValue[] =>
    (at(inputs) as ConditionOf<'in'>).values.map(bind)
  if (hasExactJson) {
    const slot: Slot = { read: (inputs) => listText(valuesIn(inputs)) }
    return sql`select value from json_each(${slot})`
  }
  const slots = Array.from({ length: slotCount(length) }, (_, index): Sql => {
    const slot: Slot = {
      read: (inputs) => {
        const values = valuesIn(inputs)
        return values[index] ?? values.at(-1) ?? null
      },
    }
    return sql`${slot}`
  })
  return join(slots)
}

function listText(values: readonly SqliteValue[]): string {
  return `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value))).join(',')}]`
}

/** Returns the number of parameters for a list: few different ones. The last value is repeated. */
export function slotCount(length: number): number {
  return length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length))
}

/** Returns the first text after all texts with this start; null if there is none. */
function firstAfter(text: string): string | null {
  const points = Array.from(text, (one) => one.codePointAt(0) as number)
  while (points.at(-1) === 0x10_ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  // The code points of surrogates are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
