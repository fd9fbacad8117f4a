import type { Conditions } from './conditions.ts'
import type {
  CollectionShape,
  Draft,
  InsertValues,
  Item,
  Key,
  Some,
  Unnamed,
  UpdateChanges,
} from './item.ts'
import type { Principal } from './principal.ts'
import type { RelationName, RelationsOf, WithRelated } from './related-items.ts'
import type { MessageText } from '../messages/message.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'

/** The events that HTTP requests invoke. */
export type PublishedEventName = 'Filter' | 'Insert' | 'Update' | 'Delete'

/** The events of a collection; `Custom` stands for every user-defined event. */
export type EventName = PublishedEventName | 'New' | 'Change' | 'Custom'

/** The options of an in-process Filter. */
export interface FilterOptions<Name extends string = string> {
  /** The maximum number of items. Default: all. */
  readonly limit?: number
  readonly offset?: number
  /** `next` of the page before: the page begins after it. Only for collections with `cursor`, without `offset`. */
  readonly after?: string
  /** Field names in order of precedence; a leading - means descending. */
  readonly sort?: readonly (Name | `-${Name}`)[]
  /** What to search for, at most 200 characters. */
  readonly q?: string
  readonly count?: boolean
  /**
   * Whether other transactions that write these items, or lock them, wait until this one has ended. Only in the handlers of
   * a save, in user-defined events and in `transaction`, and without `count`. Elsewhere it throws a TypeError. Default
   * false.
   */
  readonly lock?: boolean
}

/** The option for related items, which `expand` of the definition names. */
export interface ExpandOption<Relation extends string = string> {
  /**
   * The relations whose items are read as well. Each is a member of the items, as in the contract: an item or null, or
   * `{ items, more }`. There may be 2,000 of them, so `limit` is needed. Default: none.
   */
  readonly expand?: readonly Relation[]
}

/** The options of `get`. */
export type GetOptions = Pick<FilterOptions, 'lock'>

/** A page of items. */
export interface ItemPage<I> {
  readonly items: readonly I[]
  /** The number of all items that match; null unless `count` is set. */
  readonly count: number | null
  /** The cursor of the next page, for `after`. Absent if there is none, and for collections without `cursor`. */
  readonly next?: string
  readonly validations: readonly ValidationEntry[]
}

/** The result of a save or delete. A rejected one changed nothing. */
export type SaveResult<I, FieldName extends string = keyof I & string> =
  | {
      readonly rejected: false
      readonly item: I
      readonly validations: readonly ValidationEntry<FieldName>[]
      /** The message of a handler that called `fail`; otherwise absent. */
      readonly failure?: string
    }
  | {
      readonly rejected: true
      readonly message: string
      readonly validations: readonly ValidationEntry<FieldName>[]
    }

/**
 * The result of several saves or deletes. A rejected one changed nothing, and lists the findings of every
 * rejected item.
 */
export type SaveManyResult<C extends CollectionShape> = ManyResult<Item<C>, FieldNameOf<C>, Key<C>>

type ManyResult<I, FieldName extends string, K> =
  | {
      readonly rejected: false
      readonly items: readonly I[]
      readonly validations: readonly EntryOfMany<FieldName, K>[]
      /** The items for which a handler called `fail`; otherwise absent. */
      readonly failures?: readonly { readonly index: number; readonly message: string }[]
    }
  | {
      readonly rejected: true
      readonly message: string
      readonly validations: readonly EntryOfMany<FieldName, K>[]
    }

/** A finding about one of several items. */
export type OneOfManyEntry<C extends CollectionShape> = EntryOfMany<FieldNameOf<C>, Key<C>>

interface EntryOfMany<FieldName extends string, K> extends ValidationEntry<FieldName> {
  /** The position of the item: in the list that was inserted, or among the items that met the conditions. */
  readonly index: number
  /** The key of the item; null for an Insert. */
  readonly key: K | null
}

/** The options of an in-process save or delete. */
export interface SaveOptions {
  /** The ids of the confirmed warnings; `'all'` for every warning. */
  readonly ignoreWarnings?: Iterable<string> | 'all'
}

/** Invokes the events of a collection in process. `Others` are the collections of its application. */
export type CollectionAccess<C extends CollectionShape, Others = unknown> = {
  /** Filter: returns all items that meet the conditions, or a page of them, with all their stored fields. */
  filter<const Relation extends RelationName<C> = never>(
    conditions?: Conditions<C>,
    options?: FilterOptions<keyof C['fields'] & string> & ExpandOption<Relation>,
  ): Promise<ItemPage<WithRelated<Item<C>, RelationsOf<C, Others>, Relation>>>
  /** Filter: returns the number of items that meet the conditions. */
  count(conditions?: Conditions<C>): Promise<number>
  /** Filter: returns whether an item meets the conditions. */
  exists(conditions?: Conditions<C>): Promise<boolean>
  /** Filter by key: returns the item, or undefined. */
  get<const Relation extends RelationName<C> = never>(
    key: Key<C>,
    options?: GetOptions & ExpandOption<Relation>,
  ): Promise<WithRelated<Item<C>, RelationsOf<C, Others>, Relation> | undefined>
  /** New: returns an item with its defaults, without storing it. */
  readonly new: () => Promise<Draft<C>>
  /** Change: runs the defaults and validations of an insert (without a key) or update, without storing. */
  change(values: Some<Draft<C>>, key?: undefined): Promise<SaveResult<Draft<C>>>
  /** Returns undefined if the item does not exist. */
  change(values: Some<Draft<C>>, key: Key<C>): Promise<SaveResult<Draft<C>> | undefined>
  insert(values: InsertValues<C>, options?: SaveOptions): Promise<SaveResult<Item<C>>>
  /** Returns undefined if the item does not exist. */
  update(
    key: Key<C>,
    values: UpdateChanges<C>,
    options?: SaveOptions,
  ): Promise<SaveResult<Item<C>> | undefined>
  /** Returns undefined if the item does not exist. */
  delete(key: Key<C>, options?: SaveOptions): Promise<SaveResult<Item<C>> | undefined>
  /** Inserts all items in one transaction, or none of them. */
  insertMany(
    values: readonly InsertValues<C>[],
    options?: SaveOptions,
  ): Promise<ManyResult<Item<C>, FieldNameOf<C>, Key<C>>>
  /** Updates all items that meet the conditions in one transaction, or none. `{}` means every item. */
  updateMany(
    conditions: Conditions<C>,
    values: UpdateChanges<C>,
    options?: SaveOptions,
  ): Promise<ManyResult<Item<C>, FieldNameOf<C>, Key<C>>>
  /** Deletes all items that meet the conditions in one transaction, or none. `{}` means every item. */
  deleteMany(
    conditions: Conditions<C>,
    options?: SaveOptions,
  ): Promise<ManyResult<Item<C>, FieldNameOf<C>, Key<C>>>
}

/** Returns items of another collection, named by its definition (typed) or its endpoint name. */
export interface Find {
  <C extends CollectionShape>(
    collection: C,
    conditions?: Conditions<C>,
    options?: FilterOptions<keyof C['fields'] & string>,
  ): Promise<readonly Item<C>[]>
  (
    collection: string,
    conditions?: Conditions<CollectionShape>,
    options?: FilterOptions,
  ): Promise<readonly Item<CollectionShape>[]>
}

/**
 * Returns access to another collection of the same application: within the same transaction, if the event
 * has one. Events of served collections have none.
 */
export interface CollectionLookup {
  <C extends CollectionShape>(collection: C): CollectionAccess<C>
  (collection: string): CollectionAccess<CollectionShape>
}

/** Access to collections with every right: no roles, row rules or field rights apply. */
export interface System {
  readonly collection: CollectionLookup
  readonly find: Find
}

/** The names of the fields of a collection. */
export type FieldNameOf<C extends CollectionShape> = Unnamed<keyof C['fields'] & string>

/**
 * The context of every handler. A finding about an unknown field throws a TypeError. A message is a string, or one for
 * each language: `{ en: 'Closed.', de: 'Geschlossen.' }`.
 */
export interface HandlerContext<FieldName extends string = string> {
  readonly event: EventName
  readonly principal: Principal
  /** Aborts when the client disconnects or the handler exceeds `handlerTimeout`. */
  readonly signal: AbortSignal
  /** The service's clock. */
  readonly now: () => Date
  /** Other collections, with the rights of the caller. */
  readonly collection: CollectionLookup
  readonly find: Find
  /** Other collections, with every right. */
  readonly system: System
  /** Adds an error: the event will be rejected when the handler returns. */
  error(message: MessageText, field?: FieldName): void
  /** Adds a warning: nothing is saved until the client confirms it. `name` identifies it. */
  warning(name: string, message: MessageText, field?: FieldName): void
  /** Adds information to the response. */
  information(message: MessageText, field?: FieldName): void
  /** Rejects the event at once: the message becomes an entry of severity error. */
  reject(message: MessageText, field?: FieldName): never
}

/** A Filter before it runs. */
export type BeforeFilter<C extends CollectionShape> = HandlerContext<FieldNameOf<C>> & {
  /** Adds conditions that items must also meet. */
  where(conditions: Conditions<C>): void
}

/** A Filter that has run. The handler may change values of the items for the response. */
export type AfterFilter<C extends CollectionShape> = HandlerContext<FieldNameOf<C>> & {
  readonly items: readonly Some<Draft<C>>[]
}

/** An Insert before its validations. The handler may change the item. */
export type BeforeInsert<C extends CollectionShape, Prepared = unknown> = HandlerContext<
  FieldNameOf<C>
> & {
  /** What `prepare` of the event returned; undefined without it. */
  readonly prepared: Prepared
  readonly item: Draft<C>
}

/** An Update before its validations. The handler may change the item. */
export type BeforeUpdate<C extends CollectionShape, Prepared = unknown> = HandlerContext<
  FieldNameOf<C>
> & {
  /** What `prepare` of the event returned; undefined without it. */
  readonly prepared: Prepared
  readonly item: Draft<C>
  readonly stored: Item<C>
}

/** An Insert or Update before its validations, for code that both share. The handler may change the item. */
export type BeforeSave<C extends CollectionShape, Prepared = unknown> = HandlerContext<
  FieldNameOf<C>
> & {
  /** What `prepare` of the event returned; undefined without it. */
  readonly prepared: Prepared
  readonly item: Draft<C>
  /** The item as it is stored; null for an Insert. */
  readonly stored: Item<C> | null
}

/** A Delete before it runs. */
export type BeforeDelete<C extends CollectionShape, Prepared = unknown> = HandlerContext<
  FieldNameOf<C>
> & {
  /** What `prepare` of the event returned; undefined without it. */
  readonly prepared: Prepared
  readonly stored: Item<C>
}

/** A save or delete that has been written, but not committed. */
export type AfterSave<C extends CollectionShape, Prepared = unknown> = HandlerContext<
  FieldNameOf<C>
> & {
  /** What `prepare` of the event returned; undefined without it. */
  readonly prepared: Prepared
  readonly item: Item<C>
  /** The item as it was; null for an Insert. */
  readonly stored: Item<C> | null
  /**
   * Keeps the stored item, and responds 400 with this message and the item. Use it if the item is valid
   * and what it represents has failed, such as a payment or a build.
   */
  fail(message: MessageText): void
}

/** A save or delete that has been committed. */
export type Committed<C extends CollectionShape> = {
  readonly event: EventName
  readonly principal: Principal
  readonly item: Item<C>
  /** The item as it was; null for an Insert. */
  readonly stored: Item<C> | null
}
