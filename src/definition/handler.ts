import type {
  CollectionShape,
  Conditions,
  Draft,
  InsertValues,
  Item,
  Key,
  LooseItem,
  UpdateValues,
} from './item.ts'
import type { Principal } from './principal.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'

/** The events that HTTP invokes (section 6). */
export type PublishedEventName = 'Filter' | 'Insert' | 'Update' | 'Delete'

/** The contract's data object events, and `Custom` for every user-defined one. */
export type EventName = PublishedEventName | 'New' | 'Change' | 'Custom'

/** The options of an in-process Filter. */
export interface FilterOptions<Name extends string = string> {
  /** The most items to return. Default: all. */
  readonly limit?: number
  readonly offset?: number
  /** Field names in order of precedence; a leading - means descending. */
  readonly sort?: readonly (Name | `-${Name}`)[]
  readonly q?: string
  readonly count?: boolean
}

/** A page of items. */
export interface ItemPage<I> {
  readonly items: readonly I[]
  /** Null unless asked for. */
  readonly count: number | null
  readonly validations: readonly ValidationEntry[]
}

/** What became of a save or delete. A rejected one changed nothing. */
export type SaveResult<I> =
  | {
      readonly rejected: false
      readonly item: I
      readonly validations: readonly ValidationEntry<keyof I & string>[]
      /** Why what the item stands for has failed; absent unless a handler said so. */
      readonly failure?: string
    }
  | {
      readonly rejected: true
      readonly message: string
      readonly validations: readonly ValidationEntry<keyof I & string>[]
    }

/** The options of an in-process save or delete. */
export interface SaveOptions {
  /** The ids of the warnings to bypass; `'all'` for every warning. */
  readonly ignoreWarnings?: Iterable<string> | 'all'
}

/** A collection as host code uses it: the same events as over HTTP, without HTTP. */
export interface CollectionAccess<C extends CollectionShape> {
  /** Filter: all items that meet the conditions, or a page of them, with all their fields. */
  filter(
    conditions?: Conditions<C>,
    options?: FilterOptions<keyof C['fields'] & string>,
  ): Promise<ItemPage<Item<C>>>
  /** Filter by key: the item, or undefined. */
  get(key: Key<C>): Promise<Item<C> | undefined>
  /** New: an item with its defaults, not stored. */
  readonly new: () => Promise<Draft<C>>
  /** Change: defaults and validations of an insert (without a key) or update, not stored. */
  change(values: Partial<Draft<C>>, key?: undefined): Promise<SaveResult<Draft<C>>>
  /** The result is undefined when there is no such item. */
  change(values: Partial<Draft<C>>, key: Key<C>): Promise<SaveResult<Draft<C>> | undefined>
  insert(values: InsertValues<C>, options?: SaveOptions): Promise<SaveResult<Item<C>>>
  /** The result is undefined when there is no such item. */
  update(
    key: Key<C>,
    values: UpdateValues<C>,
    options?: SaveOptions,
  ): Promise<SaveResult<Item<C>> | undefined>
  /** The result is undefined when there is no such item. */
  delete(key: Key<C>, options?: SaveOptions): Promise<SaveResult<Item<C>> | undefined>
}

/** Looks up items of another collection: by its definition (typed), or by its endpoint name. */
export interface Find {
  <C extends CollectionShape>(
    collection: C,
    conditions?: Conditions<C>,
    options?: FilterOptions<keyof C['fields'] & string>,
  ): Promise<readonly Item<C>[]>
  (
    collection: string,
    conditions?: Readonly<Record<string, string | number | boolean | null>>,
    options?: FilterOptions,
  ): Promise<readonly LooseItem[]>
}

/** Reaches another collection of the same application, with the caller's rights and in the same transaction. */
export interface Reach {
  <C extends CollectionShape>(collection: C): CollectionAccess<C>
  (collection: string): CollectionAccess<CollectionShape>
}

/** Collections without the limits of the caller: no roles, no row rules, no field rights (D45). */
export interface System {
  readonly collection: Reach
  readonly find: Find
}

type FieldNameOf<C extends CollectionShape> = keyof C['fields'] & string

/** What every handler sees. A finding about a field that the collection does not have is a TypeError. */
export interface HandlerContext<FieldName extends string = string> {
  readonly event: EventName
  readonly principal: Principal
  /** Aborted when the client has left or the handler has used up its time. */
  readonly signal: AbortSignal
  /** The service's clock. */
  readonly now: () => Date
  /** With the caller's rights (D45), as everything that a handler does unless it says otherwise. */
  readonly collection: Reach
  readonly find: Find
  /** The same, with every right: for what the host does on its own account. */
  readonly system: System
  /** Adds a validation result of severity error: the event will be rejected. */
  error(message: string, field?: FieldName): void
  /** Adds a warning: the save is held back until the consumer confirms. `name` identifies it. */
  warning(name: string, message: string, field?: FieldName): void
  /** Adds information to the answer. */
  information(message: string, field?: FieldName): void
  /** Rejects the event at once: the message becomes an entry of severity error. */
  reject(message: string, field?: FieldName): never
}

/** A Filter before it is run. */
export interface BeforeFilter<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  /** Narrows the Filter: only items that meet these conditions too. */
  where(conditions: Conditions<C>): void
}

/** A Filter that has been run. Values of the items may be changed for the answer. */
export interface AfterFilter<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly items: readonly Partial<Draft<C>>[]
}

/** An Insert before its validations. The handler may change the item. */
export interface BeforeInsert<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly item: Draft<C>
}

/** An Update before its validations. The handler may change the item. */
export interface BeforeUpdate<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly item: Draft<C>
  readonly stored: Item<C>
}

/** An Insert or Update before its validations, for code that both share. The handler may change the item. */
export interface BeforeSave<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly item: Draft<C>
  /** The item as it is stored; null for an Insert. */
  readonly stored: Item<C> | null
}

/** A Delete before it happens. */
export interface BeforeDelete<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly stored: Item<C>
}

/** A save or delete that has been written, but not committed. */
export interface AfterSave<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly item: Item<C>
  /** The item as it was; null for an Insert. */
  readonly stored: Item<C> | null
  /**
   * Has the event answered with HTTP 400, this message and the item, although it is kept: it was stored,
   * and what it stands for has failed, such as a payment or a build.
   */
  fail(message: string): void
}

/** A save or delete that has been committed. */
export interface Committed<C extends CollectionShape> {
  readonly event: EventName
  readonly principal: Principal
  readonly item: Item<C>
  /** The item as it was; null for an Insert. */
  readonly stored: Item<C> | null
}

type Handler<Event> = (event: Event) => void | Promise<void>

/** The handlers of a collection by event (section 6): before and after in the transaction, and after the commit. */
export interface Handlers<C extends CollectionShape> {
  readonly Filter?: {
    readonly before?: Handler<BeforeFilter<C>>
    readonly after?: Handler<AfterFilter<C>>
  }
  /** Handlers of both Insert and Update. Each runs before that of Insert or Update with the same name. */
  readonly Save?: {
    readonly before?: Handler<BeforeSave<C>>
    readonly after?: Handler<AfterSave<C>>
    /** Runs after the commit and does not hold up the answer; a failure is only reported. */
    readonly committed?: Handler<Committed<C>>
  }
  readonly Insert?: {
    readonly before?: Handler<BeforeInsert<C>>
    readonly after?: Handler<AfterSave<C>>
    /** Runs after the commit and does not hold up the answer; a failure is only reported. */
    readonly committed?: Handler<Committed<C>>
  }
  readonly Update?: {
    readonly before?: Handler<BeforeUpdate<C>>
    readonly after?: Handler<AfterSave<C>>
    /** Runs after the commit and does not hold up the answer; a failure is only reported. */
    readonly committed?: Handler<Committed<C>>
  }
  readonly Delete?: {
    readonly before?: Handler<BeforeDelete<C>>
    readonly after?: Handler<AfterSave<C>>
    /** Runs after the commit and does not hold up the answer; a failure is only reported. */
    readonly committed?: Handler<Committed<C>>
  }
  readonly New?: {
    /** May change the blank item of a New event. */
    readonly after?: Handler<BeforeInsert<C>>
  }
}

/** What became of a user-defined event. A rejected one changed nothing. */
export type CustomResult<Result> =
  | {
      readonly rejected: false
      readonly result: Result
      readonly validations: readonly ValidationEntry[]
    }
  | {
      readonly rejected: true
      readonly message: string
      readonly validations: readonly ValidationEntry[]
    }

/** What a user-defined event sees, with its own collection at hand. */
export interface CustomEvent<C extends CollectionShape> extends HandlerContext<FieldNameOf<C>> {
  readonly own: CollectionAccess<C>
}
