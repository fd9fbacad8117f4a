import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'

/**
 * The stored values of an item by field name. Text and every type that is text on the wire is a
 * string, integer and double a number, boolean a boolean, no value null. The JSON text of a json field
 * comes back byte for byte.
 */
export type Row = Readonly<Record<string, StoredValue>>

/** An equality condition (D8). All conditions of a list hold together. */
export type Condition =
  /** The stored value is exactly this one; null: there is none. Text differs by case, accent, space and form. */
  | { readonly field: string; readonly is: 'equal'; readonly value: StoredValue }
  /** The field has no value: null, or the empty text. */
  | { readonly field: string; readonly is: 'empty' }

/** One key of a sort order: null first when ascending and last when descending. */
export interface SortField {
  readonly field: string
  readonly descending: boolean
}

/** A Filter in the language of storage: fully resolved. */
export interface StorageQuery {
  readonly conditions: readonly Condition[]
  /**
   * Rows in which one of the fields contains the text. The text is folded by `searchText` already; an
   * adapter folds the wire text of the fields.
   */
  readonly search: { readonly fields: readonly string[]; readonly text: string } | null
  /** A total order: it always ends with the key, or with every sortable field where there is no key. */
  readonly sort: readonly SortField[]
  readonly limit: number
  readonly offset: number
  /** The fields that each row MUST have; in this order in a page as text. */
  readonly select: readonly string[]
  /** Whether to count all rows that match conditions and search, from the snapshot of the page. */
  readonly count: boolean
}

/** Item values by field name, in the form of the wire. */
export type ItemValues = Record<string, Json>

/** What a consumer sent to be saved, checked against the definition. */
export interface Submitted {
  /** The accepted values in canonical form. */
  readonly values: Readonly<ItemValues>
  /** What is wrong with the rest; empty when all is well. */
  readonly faults: readonly ValidationEntry[]
  /** The known fields as the consumer sent them, for the echo of a failed save. */
  readonly echo: Readonly<ItemValues>
}

/** GET of a collection (`page`) or of an item (`item`). */
export interface FilterEvent {
  readonly type: 'Filter'
  readonly collection: PublishedCollection
  readonly result: 'page' | 'item'
  readonly query: StorageQuery
}

/** POST on a collection. */
export interface InsertEvent {
  readonly type: 'Insert'
  readonly collection: PublishedCollection
  readonly submitted: Submitted
}

/** POST on an item. The conditions contain the key. */
export interface UpdateEvent {
  readonly type: 'Update'
  readonly collection: PublishedCollection
  readonly key: readonly StoredValue[]
  readonly conditions: readonly Condition[]
  readonly submitted: Submitted
}

/** DELETE of an item. The conditions contain the key. */
export interface DeleteEvent {
  readonly type: 'Delete'
  readonly collection: PublishedCollection
  readonly key: readonly StoredValue[]
  readonly conditions: readonly Condition[]
}

/** A data object event (section 6), fully resolved. */
export type DataEvent = FilterEvent | InsertEvent | UpdateEvent | DeleteEvent
