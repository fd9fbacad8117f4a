import type { EqualConditions } from '../definition/conditions.ts'
import type {
  CollectionAccess,
  FieldNameOf,
  FilterOptions,
  ItemPage,
  SaveOptions,
  SaveResult,
} from '../definition/handler.ts'
import type { CollectionShape, InsertValues, Item, Key, UpdateValues } from '../definition/item.ts'

/** The names of the fields of pages: all but those with `itemOnly`. */
export type PageFieldName<C extends CollectionShape> = {
  [Name in FieldNameOf<C>]: C['fields'][Name] extends { readonly itemOnly: true } ? never : Name
}[FieldNameOf<C>]

/** An item of a page. */
export type PageItem<
  C extends CollectionShape,
  Name extends PageFieldName<C> = PageFieldName<C>,
> = Pick<Item<C>, Name>

/**
 * The calls that a collection has in process (`service.as(user).collection(...)`) and over the network alike.
 * Functions with a parameter of this type run on either side.
 */
export interface PortableCollection<C extends CollectionShape> extends Pick<
  CollectionAccess<C>,
  'get' | 'insert' | 'update' | 'delete'
> {
  /** Returns all items that meet the conditions, or those that `limit` and `offset` select. */
  filter(
    conditions?: EqualConditions<C>,
    options?: FilterOptions<PageFieldName<C>>,
  ): Promise<ItemPage<PageItem<C>>>
  /** Returns the number of items that meet the conditions. */
  count(conditions?: EqualConditions<C>): Promise<number>
  /** Returns whether an item meets the conditions. */
  exists(conditions?: EqualConditions<C>): Promise<boolean>
}

/** The options of a call that reads a single value. */
export interface CallOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** The options of a call that reads pages. */
export interface PageOptions<Field extends string = string, Selected extends Field = Field>
  extends FilterOptions<Field>, CallOptions {
  /** The fields of the items. Default: all. */
  readonly fields?: readonly Selected[]
}

/** The options of a save or delete over the network. */
export interface SaveCallOptions extends SaveOptions, CallOptions {}

/**
 * A collection of a service over the network. Every call may reject with a RequestError. Conditions with null
 * and with an empty string are the same: they match items whose field is null or empty.
 */
export interface ClientCollection<C extends CollectionShape> extends PortableCollection<C> {
  /**
   * Returns all items that meet the conditions, or those that `limit` and `offset` select, with all fields or
   * those of `fields`. Requests as many pages as are needed.
   */
  filter<const Name extends PageFieldName<C> = PageFieldName<C>>(
    conditions?: EqualConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name>,
  ): Promise<ItemPage<PageItem<C, Name>>>
  /**
   * Reads the same items page by page. The next page is requested when the loop continues: by cursor if the
   * collection has cursors; otherwise by offset, so that items which are added or deleted meanwhile can shift
   * others. The first page has the count if `count` is set.
   */
  pages<const Name extends PageFieldName<C> = PageFieldName<C>>(
    conditions?: EqualConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name>,
  ): AsyncIterable<ItemPage<PageItem<C, Name>>>
  /** Reads the same items one by one, page by page. */
  items<const Name extends PageFieldName<C> = PageFieldName<C>>(
    conditions?: EqualConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name>,
  ): AsyncIterable<PageItem<C, Name>>
  /** Returns the number of items that meet the conditions: an estimate if the collection allows it. */
  count(conditions?: EqualConditions<C>, options?: CallOptions): Promise<number>
  exists(conditions?: EqualConditions<C>, options?: CallOptions): Promise<boolean>
  /** Returns the item with all its fields, or undefined. */
  get(key: Key<C>, options?: CallOptions): Promise<Item<C> | undefined>
  insert(values: InsertValues<C>, options?: SaveCallOptions): Promise<SaveResult<Item<C>>>
  /** Returns undefined if the item does not exist. */
  update(
    key: Key<C>,
    values: UpdateValues<C>,
    options?: SaveCallOptions,
  ): Promise<SaveResult<Item<C>> | undefined>
  /** Returns undefined if the item does not exist. */
  delete(key: Key<C>, options?: SaveCallOptions): Promise<SaveResult<Item<C>> | undefined>
  /**
   * Repeats the request of a rejected result with the ids of its warnings. Throws a TypeError for a result that
   * this client did not return for this collection, and for one that has errors.
   */
  confirm(
    result: { readonly rejected: boolean },
    options?: CallOptions,
  ): Promise<SaveResult<Item<C>> | undefined>
}
