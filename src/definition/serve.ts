import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedEventName, HandlerContext } from './handler.ts'
import type { Conditions, EqualConditions } from './conditions.ts'
import type { Fields } from './field.ts'
import type { CollectionShape, Item, Key, Some, Unnamed, ValueOf } from './item.ts'

type FieldNameOf<C extends CollectionShape> = Unnamed<keyof C['fields'] & string>

/** What every function that serves a collection receives. */
export type ServingContext = Pick<
  HandlerContext,
  'principal' | 'signal' | 'now' | 'collection' | 'find' | 'system'
>

/** What functions that write receive besides. */
export interface WritingContext<C extends CollectionShape>
  extends ServingContext, Pick<HandlerContext<FieldNameOf<C>>, 'reject' | 'information'> {}

/** A Filter of a served collection. All of it may be ignored by a function that returns a list. */
export type FilterCall<C extends CollectionShape> = ServingContext & {
  /** The values that items must have, including the values of row rules. Null: no value, or an empty string. */
  readonly conditions: EqualConditions<C>
  /**
   * The other conditions that items must meet: conditions of row rules, handlers and in-process calls that are
   * more than a value, and the operators and the cursor of an HTTP request. Undefined if there are none.
   */
  readonly where: Conditions<C> | undefined
  /** What one of the fields must contain. The text is in lower case, as `$q` compares. */
  readonly search: { readonly text: string; readonly fields: readonly FieldNameOf<C>[] } | undefined
  /** The order of the page. It always ends with the key. Empty if an item is read by its key. */
  readonly sort: readonly { readonly field: FieldNameOf<C>; readonly descending: boolean }[]
  /** The maximum number of items; undefined: all. */
  readonly limit: number | undefined
  readonly offset: number
  /** Whether a page needs the number of all items that match. */
  readonly count: boolean
  /** The fields that each item must have. Other fields are ignored. */
  readonly fields: readonly FieldNameOf<C>[]
}

/** A page that a function has filtered, searched, sorted and cut itself. */
export interface ServedPage<I> {
  readonly page: readonly I[]
  /** The number of all items that match; required if it was requested. */
  readonly count?: number
}

/** A read of one item of a served collection. */
export type GetCall<C extends CollectionShape> = ServingContext & {
  /** The key of the item: its value, or the values of a composite key. Undefined for a singleton. */
  readonly key: Key<C>
  /** The fields that the item must have. Other fields are ignored. */
  readonly fields: readonly FieldNameOf<C>[]
}

type SuppliedByFunction = { readonly readOnly: true } | { readonly generated: 'database' }

/** The item of an Insert: valid, and with null for fields that the function may supply. */
export type NewItem<C extends CollectionShape> = NewItemOf<C['fields'], Item<C>>

type NewItemOf<F extends Fields, I extends Record<keyof F, unknown>> = Unnamed<{
  readonly [Name in keyof F]: F[Name] extends SuppliedByFunction ? ValueOf<F[Name]> | null : I[Name]
}>

/** An Insert into a served collection, after its validations. */
export type InsertCall<C extends CollectionShape> = WritingContext<C> & {
  readonly item: NewItem<C>
}

/** An Update of an item of a served collection, after its validations. */
export type UpdateCall<C extends CollectionShape> = WritingContext<C> & {
  readonly key: Key<C>
  /** The whole item with its changes. */
  readonly item: Item<C>
  /** The changed fields. */
  readonly changes: Some<Item<C>>
  /** The item as `get` or `filter` returned it. */
  readonly stored: Item<C>
}

/** A Delete of an item of a served collection, after its validations. */
export type DeleteCall<C extends CollectionShape> = WritingContext<C> & {
  readonly key: Key<C>
  /** The item as `get` or `filter` returned it. */
  readonly stored: Item<C>
}

/**
 * The functions that serve a collection instead of storage. An event without a function is not published.
 * Items have all their fields, with null for no value. What the functions return is checked.
 */
export interface Serve<C extends CollectionShape> {
  /**
   * Returns the items. If it returns a list, the library filters, searches, sorts, counts and cuts it: the
   * list may contain more than was requested. A function that returns `{ page, count }` has done all of
   * that, with `where` as well; it may return a list if there are conditions that it can't evaluate.
   */
  readonly filter?: (call: FilterCall<C>) => MaybePromise<readonly Item<C>[] | ServedPage<Item<C>>>
  /** Returns the item of a key, or undefined. Without it, `filter` is called. Required for a singleton. */
  readonly get?: (call: GetCall<C>) => MaybePromise<Item<C> | undefined>
  /** Stores an item and returns it. */
  readonly insert?: (call: InsertCall<C>) => MaybePromise<Item<C>>
  /** Changes an item and returns it, or undefined if it no longer exists. */
  readonly update?: (call: UpdateCall<C>) => MaybePromise<Item<C> | undefined>
  /** Deletes an item. Returns false if it no longer existed. */
  readonly delete?: (call: DeleteCall<C>) => MaybePromise<boolean>
  /** The time limit of each function, in milliseconds. Default: `handlerTimeout` of the service. */
  readonly timeout?: number
}

/** The names of the functions of {@link Serve}. */
export const servingFunctions = ['filter', 'get', 'insert', 'update', 'delete'] as const

/** Returns whether there is a function for an event. */
export function servesEvent(serve: Serve<CollectionShape>, event: PublishedEventName): boolean {
  switch (event) {
    case 'Filter':
      return serve.filter !== undefined || serve.get !== undefined
    case 'Insert':
      return serve.insert !== undefined
    case 'Update':
      return serve.update !== undefined
    case 'Delete':
      return serve.delete !== undefined
  }
}

/**
 * Returns the events that a collection can publish. Without a key, items have no path; a served collection
 * needs a function for each event.
 */
export function publishableEvents({
  key = [],
  singleton,
  serve,
}: {
  readonly key?: string | readonly string[] | undefined
  readonly singleton?: boolean | undefined
  readonly serve?: Serve<CollectionShape> | undefined
}): readonly PublishedEventName[] {
  const events = singleton === true ? singletonEvents : key.length > 0 ? allEvents : keylessEvents
  return serve === undefined ? events : events.filter((event) => servesEvent(serve, event))
}

const allEvents = ['Filter', 'Insert', 'Update', 'Delete'] as const
const keylessEvents = ['Filter', 'Insert'] as const
const singletonEvents = ['Filter'] as const

/** Returns whether a collection is served by functions, including one that was exported without them. */
export function isServed({
  serve,
  omittedCode = [],
}: {
  readonly serve?: unknown
  readonly omittedCode?: readonly string[] | undefined
}): boolean {
  return serve !== undefined || omittedCode.some((place) => place.startsWith('serve.'))
}
