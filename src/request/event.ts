import type { StoredValue } from '../definition/field-type.ts'
import type { Increment } from '../definition/increment.ts'
import type { PublishedExpansion } from '../definition/published.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Paging } from './paging.ts'
import type { Condition, Output, StorageQuery } from './query.ts'
import type { Submitted } from './submitted.ts'
import type { View } from './view.ts'

/** A relation whose items a response has, as the caller may read them. */
export interface Expanded {
  readonly expansion: PublishedExpansion
  /** The view of the other collection. */
  readonly view: View
}

/** A resolved query, and what its response contains. */
export interface PlannedQuery extends StorageQuery {
  /** Absent if the response has stored fields only. Otherwise `select` has those that functions need as well. */
  readonly output?: Output
  /** Absent if the collection has neither cursors nor estimated counts. */
  readonly paging?: Paging
  /** Absent if the response has no related items. Otherwise `output` is present. */
  readonly expanded?: readonly Expanded[]
}

/** GET of a collection (`page`) or of an item (`item`). */
export interface FilterEvent {
  readonly type: 'Filter'
  readonly collection: PublishedCollection
  readonly view: View
  readonly result: 'page' | 'item'
  readonly query: StorageQuery
  /** What a response with computed fields contains; the query selects what they need. Undefined if it has none. */
  readonly output: Output | undefined
  /** Absent if the collection has neither cursors nor estimated counts. */
  readonly paging?: Paging
  /** As in {@link PlannedQuery}. */
  readonly expanded?: readonly Expanded[]
}

/** POST on a collection. */
export interface InsertEvent {
  readonly type: 'Insert'
  readonly collection: PublishedCollection
  readonly view: View
  readonly submitted: Submitted
  readonly output: Output | undefined
}

/** POST on an item. The conditions contain the key and the row rule of the caller. */
export interface UpdateEvent {
  readonly type: 'Update'
  readonly collection: PublishedCollection
  readonly view: View
  readonly key: readonly StoredValue[]
  readonly conditions: readonly Condition[]
  /** The states of the stored item in which the event may write it. Absent: any state. */
  readonly expected?: ReadonlySet<string>
  readonly submitted: Submitted
  /** Amounts that are added to stored values, in process. Absent if there are none. */
  readonly increments?: Readonly<Record<string, Increment>>
  readonly output: Output | undefined
}

/** DELETE of an item. The conditions contain the key and the row rule of the caller. */
export interface DeleteEvent {
  readonly type: 'Delete'
  readonly collection: PublishedCollection
  readonly view: View
  readonly key: readonly StoredValue[]
  readonly conditions: readonly Condition[]
  /** The states of the stored item in which the event may write it. Absent: any state. */
  readonly expected?: ReadonlySet<string>
  readonly output: Output | undefined
}

/** An event with resolved names and values. `view` is what the caller may use of the collection. */
export type DataEvent = FilterEvent | InsertEvent | UpdateEvent | DeleteEvent
