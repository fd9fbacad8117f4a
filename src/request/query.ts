import type { PublishedComputed } from '../definition/published-computed.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Json } from '../protocol/json.ts'

/**
 * The stored values of an item by field name. Text and every type that is text on the wire is a
 * string, integer and double a number, boolean a boolean, no value null. The JSON text of a json field
 * comes back byte for byte.
 */
export type Row = Readonly<Record<string, StoredValue>>

/**
 * A condition on a row: true or false, never unknown. A field without value meets `empty`, `equal` to null,
 * and the negation of everything else. All conditions of a list must hold.
 */
export type Condition =
  /** The stored value is exactly this one; null: no value. Strings are compared code point by code point. */
  | { readonly field: string; readonly is: 'equal'; readonly value: StoredValue }
  /** The field has no value: null, or the empty string. */
  | { readonly field: string; readonly is: 'empty' }
  /** The value comes before or after this one in the order of `sort`. */
  | { readonly field: string; readonly is: 'lt'; readonly value: NonNullable<StoredValue> }
  | { readonly field: string; readonly is: 'lte'; readonly value: NonNullable<StoredValue> }
  | { readonly field: string; readonly is: 'gt'; readonly value: NonNullable<StoredValue> }
  | { readonly field: string; readonly is: 'gte'; readonly value: NonNullable<StoredValue> }
  /** The value is one of these, of which there may be none. */
  | {
      readonly field: string
      readonly is: 'in'
      readonly values: readonly NonNullable<StoredValue>[]
    }
  /** The string contains these code points, or starts with them. The field has the type text. */
  | { readonly field: string; readonly is: 'contains'; readonly text: string }
  | { readonly field: string; readonly is: 'startsWith'; readonly text: string }
  /** All of the conditions hold, or at least one. Of an empty list, `and` holds and `or` does not. */
  | { readonly is: 'and'; readonly conditions: readonly Condition[] }
  | { readonly is: 'or'; readonly conditions: readonly Condition[] }
  | { readonly is: 'not'; readonly condition: Condition }
  /**
   * A row of the collection, which is in the same storage, meets all conditions, and the fields have the
   * values of its key, in the order of the key.
   */
  | {
      readonly is: 'through'
      readonly collection: PublishedCollection
      readonly fields: readonly string[]
      readonly conditions: readonly Condition[]
    }

/** A condition of these kinds. */
export type ConditionOf<Kind extends Condition['is']> = Extract<Condition, { readonly is: Kind }>

/** The kinds of conditions that every adapter has. */
export const plainConditions = Object.freeze(['equal', 'empty'] as const)

/** All kinds of conditions. */
export const everyCondition: readonly Condition['is'][] = Object.freeze([
  ...plainConditions,
  ...(['lt', 'lte', 'gt', 'gte', 'in', 'contains', 'startsWith'] as const),
  ...(['and', 'or', 'not', 'through'] as const),
])

/** Returns the condition that a field equals a value. */
export function equal(field: string, value: StoredValue): ConditionOf<'equal'> {
  return { field, is: 'equal', value }
}

/** Returns the conditions that fields equal values, one for each. */
export function allEqual(
  fields: readonly string[],
  values: readonly StoredValue[],
): readonly ConditionOf<'equal'>[] {
  return fields.map((field, index) => equal(field, values[index] ?? null))
}

/** Returns the condition that fields equal the values of one of several keys. None contains null. */
export function anyEqual(
  fields: readonly string[],
  keys: readonly (readonly StoredValue[])[],
): Condition {
  const [field] = fields
  if (fields.length === 1 && field !== undefined) {
    const values = keys.flatMap(([value = null]) => (value === null ? [] : [value]))
    return { field, is: 'in', values }
  }
  const conditions = keys.map((key) => ({ is: 'and', conditions: allEqual(fields, key) }) as const)
  return { is: 'or', conditions }
}

/** Conditions that no row meets. */
export const noRows: readonly Condition[] = Object.freeze([{ is: 'or', conditions: [] } as const])

/** Returns a condition as a value of JSON: different conditions have different ones. */
export function partsOf(condition: Condition): readonly unknown[] {
  switch (condition.is) {
    case 'and':
    case 'or':
      return [condition.is, condition.conditions.map(partsOf)]
    case 'not':
      return [condition.is, partsOf(condition.condition)]
    case 'through': {
      const { collection, fields, conditions } = condition
      const { application, name } = collection
      return [condition.is, application, name, fields, conditions.map(partsOf)]
    }
    default: {
      // The members have the order in which the code made the condition.
      const { field, is, ...rest } = condition
      return [is, field, rest]
    }
  }
}

/** One key of a sort order: null first when ascending and last when descending. */
export interface SortField {
  readonly field: string
  readonly descending: boolean
}

/** The query of a Filter, in terms of storage. */
export interface StorageQuery {
  readonly conditions: readonly Condition[]
  /**
   * Rows in which one of the fields contains the string. `searchText` has folded it already; an adapter
   * folds the wire text of the fields.
   */
  readonly search: { readonly fields: readonly string[]; readonly text: string } | null
  /** A total order: it always ends with the key, or with every sortable field if the collection has no key. */
  readonly sort: readonly SortField[]
  readonly limit: number
  readonly offset: number
  /** The fields that each row MUST have; a page as text has them in this order. */
  readonly select: readonly string[]
  /** Whether to count all rows that match conditions and search, in the same snapshot as the page. */
  readonly count: boolean
  /**
   * Whether the rows of the page are locked until the end of the transaction: other transactions that write them, or lock
   * them as well, wait. Only within a transaction that writes, and without `count`. An adapter whose transactions can't
   * write the same row at the same time may ignore it. Default false.
   */
  readonly lock?: boolean
}

/**
 * Returns the number of all rows that match a query, if the number of rows in its page shows it: the page is
 * not full. Undefined if they have to be counted.
 */
export function shownCount(
  { limit, offset }: Pick<StorageQuery, 'limit' | 'offset'>,
  rows: number,
): number | undefined {
  return rows < limit && (offset === 0 || rows > 0) ? offset + rows : undefined
}

/** What a response with computed fields contains. */
export interface Output {
  /** The names of all its fields, in their order. */
  readonly select: readonly string[]
  readonly computed: readonly PublishedComputed[]
}

/** Returns the query of the one item that meets the conditions. */
export function oneItem(conditions: readonly Condition[], select: readonly string[]): StorageQuery {
  return { conditions, search: null, sort: [], limit: 1, offset: 0, select, count: false }
}

/** Item values by field name, in the form of the wire. */
export type ItemValues = Record<string, Json>

/**
 * Returns the folded form of a string for `$q`: each code point in Unicode lower case. A capital sigma
 * folds to the same letter in every position of a word.
 */
export function searchText(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase()
}
