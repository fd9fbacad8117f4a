import type { EqualConditions, Operators, TextOperators } from '../definition/conditions.ts'
import type { Field } from '../definition/field.ts'
import type { indexedOperators, OperatorName } from '../definition/operators.ts'
import type {
  CollectionAccess,
  ExpandOption,
  FilterOptions,
  ItemPage,
  SaveOptions,
  SaveResult,
} from '../definition/handler.ts'
import type {
  CollectionShape,
  InsertValues,
  Item,
  Key,
  Shown,
  Some,
  Unnamed,
  UpdateValues,
  ValueOf,
} from '../definition/item.ts'
import type {
  ComputedFields,
  RelationName,
  RelationsOf,
  ResponseItem,
  WithRelated,
} from '../definition/related-items.ts'

// The compiler prints the imported alias of this name with its argument.
type FieldNameOf<C extends CollectionShape> = Unnamed<keyof C['fields'] & string>

/** The names of the fields of pages: all but those with `itemOnly`. */
export type PageFieldName<C extends CollectionShape> = Unnamed<
  {
    [Name in FieldNameOf<C>]: C['fields'][Name] extends { readonly itemOnly: true } ? never : Name
  }[FieldNameOf<C>]
>

/**
 * The values that the fields of pages must have, or the operators that the definition switches on. An empty list of
 * `in` matches no item.
 */
export type AskedConditions<C extends CollectionShape> = Shown<
  {
    readonly [Name in PageFieldName<C> & keyof EqualConditions<C>]?:
      EqualConditions<C>[Name] | AskedOf<C['fields'][Name], OperatorOf<OperatorsIn<C>, Name>>
  } & {
    readonly [Name in Extract<keyof OperatorsIn<C>, `${string}.${string}`>]?: RelatedOf<
      OperatorOf<OperatorsIn<C>, Name>
    >
  }
>

// The type of a definition does not have the fields of other collections.
type RelatedOf<Operator> =
  | ('eq' extends Operator ? Loose | null : never)
  | Some<Pick<TextOperators<Loose>, Exclude<Operator, 'eq'> & keyof TextOperators<Loose>>>

type Loose = string | number | boolean

/** The operators of a definition. It may come from another copy of this package. */
type OperatorsIn<C> = C extends { readonly operators?: infer O } ? NonNullable<O> : never

// The type of all operators stands for none, unless the fields are unknown as well. Which fields lead an index is not
// part of the type of a definition.
type OperatorOf<O, Name> = [true | 'indexed'] extends [O]
  ? string extends Name
    ? OperatorName
    : never
  : O extends true
    ? OperatorName
    : O extends 'indexed'
      ? (typeof indexedOperators)[number]
      : Name extends keyof O
        ? Extract<NonNullable<O[Name]>, readonly unknown[]>[number]
        : never

type AskedOf<One extends Field, Operator> = [Operator] extends [never]
  ? never
  : Some<Pick<OperandsOf<One>, Operator & keyof OperandsOf<One>>>

type OperandsOf<One extends Field> = One['type'] extends 'text'
  ? TextOperators<ValueOf<One>>
  : One['type'] extends 'boolean'
    ? Pick<Operators<ValueOf<One>>, 'ne' | 'in' | 'notIn' | 'isNull'>
    : 'text' extends One['type']
      ? TextOperators<ValueOf<One>>
      : Operators<ValueOf<One>>

/** An item of a page of a {@link PortableCollection}, without computed fields. */
export type PageItem<C extends CollectionShape> = Shown<Pick<Item<C>, PageFieldName<C>>>

/**
 * The calls that a collection has in process (`service.as(user).collection(...)`) and over the network alike.
 * Functions with a parameter of this type run on either side. `Others` are the collections of its application.
 */
export type PortableCollection<C extends CollectionShape, Others = unknown> = Pick<
  CollectionAccess<C>,
  'insert' | 'delete'
> & {
  /** Returns undefined if the item does not exist. */
  update(
    key: Key<C>,
    values: UpdateValues<C>,
    options?: SaveOptions,
  ): Promise<SaveResult<Item<C>> | undefined>
  /** Returns the item of a key, or undefined. */
  get<const Relation extends RelationName<C> = never>(
    key: Key<C>,
    options?: ExpandOption<Relation>,
  ): Promise<WithRelated<Item<C>, RelationsOf<C, Others>, Relation> | undefined>
  /** Returns all items that meet the conditions, or those that `limit` and `offset` select. */
  filter<const Relation extends RelationName<C> = never>(
    conditions?: AskedConditions<C>,
    options?: Omit<FilterOptions<PageFieldName<C>>, 'lock'> & ExpandOption<Relation>,
  ): Promise<ItemPage<WithRelated<PageItem<C>, RelationsOf<C, Others>, Relation>>>
  /** Returns the number of items that meet the conditions. */
  count(conditions?: AskedConditions<C>): Promise<number>
  /** Returns whether an item meets the conditions. */
  exists(conditions?: AskedConditions<C>): Promise<boolean>
}

/** The options of a call that reads a single value. */
export interface CallOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** The names of the fields that `fields` can select: fields of pages, and computed fields. */
export type SelectedName<C extends CollectionShape> = Unnamed<
  | PageFieldName<C>
  | {
      [Name in keyof ComputedFields<C> & string]: ComputedFields<C>[Name] extends {
        readonly itemOnly: true
      }
        ? never
        : Name
    }[keyof ComputedFields<C> & string]
>

/** The selected fields of an item of a response, and related items. */
type Selected<C extends CollectionShape, Name extends SelectedName<C>, Relation, Others> = Unnamed<{
  readonly [One in Name | (Relation & string)]: (ResponseItem<C> & RelationsOf<C, Others>)[One &
    keyof (ResponseItem<C> & RelationsOf<C, Others>)]
}>

/** The result of a save or delete over the network. Its findings are about stored fields. */
export type ClientSaveResult<C extends CollectionShape> = WithTag<
  SaveResult<ResponseItem<C>, FieldNameOf<C>>
>

/** A result, with the tag of the stored version if the collection has `concurrency` and the save succeeded. */
export type WithTag<Result> = Result & { readonly etag?: string }

/** The options of a call that reads pages. */
export interface PageOptions<
  Field extends string = string,
  Selected extends string = Field,
  Relation extends string = string,
>
  extends FilterOptions<Field>, CallOptions, ExpandOption<Relation> {
  /** The fields of the items. Default, also for an empty list: all. */
  readonly fields?: readonly Selected[]
}

/** The options of a save or delete over the network. */
export interface SaveCallOptions extends SaveOptions, CallOptions {}

/** The options of an update or delete over the network. */
export interface ChangeCallOptions extends SaveCallOptions {
  /**
   * The `etag` of the version that may be changed, or `*` for any. If the item has another one, the call rejects with the
   * code `PRECONDITION_FAILED`. Only for collections with `concurrency`; others ignore it.
   */
  readonly ifMatch?: string
}

/** An item, and the tag of its version. */
export interface TaggedItem<I> {
  readonly item: I
  /** Undefined if the collection has no `concurrency`, or if a browser hides the header `ETag` of another origin. */
  readonly etag: string | undefined
}

/**
 * A collection of a service over the network: also a {@link PortableCollection}. Every call may reject with a
 * RequestError. Conditions with null and with an empty string are the same: they match items whose field is null
 * or empty. `Others` are the collections of its application.
 */
export type ClientCollection<C extends CollectionShape, Others = unknown> = {
  /**
   * Returns all items that meet the conditions, or those that `limit` and `offset` select, with all fields or
   * the fields in `fields`. Requests as many pages as are needed.
   */
  filter<
    const Name extends SelectedName<C> = SelectedName<C>,
    const Relation extends RelationName<C> = never,
  >(
    conditions?: AskedConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name, Relation>,
  ): Promise<ItemPage<Selected<C, Name, Relation, Others>>>
  /**
   * Reads the same items page by page. The next page is requested when the loop continues: by cursor if the
   * collection has cursors; otherwise by offset, so that items which are added or deleted meanwhile can shift
   * others. The first page has the count if `count` is set.
   */
  pages<
    const Name extends SelectedName<C> = SelectedName<C>,
    const Relation extends RelationName<C> = never,
  >(
    conditions?: AskedConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name, Relation>,
  ): AsyncIterable<ItemPage<Selected<C, Name, Relation, Others>>>
  /** Reads the same items one by one, page by page. */
  items<
    const Name extends SelectedName<C> = SelectedName<C>,
    const Relation extends RelationName<C> = never,
  >(
    conditions?: AskedConditions<C>,
    options?: PageOptions<PageFieldName<C>, Name, Relation>,
  ): AsyncIterable<Selected<C, Name, Relation, Others>>
  /** Returns the number of items that meet the conditions: an estimate if the collection allows it. */
  count(conditions?: AskedConditions<C>, options?: CallOptions): Promise<number>
  /** Returns whether an item meets the conditions. */
  exists(conditions?: AskedConditions<C>, options?: CallOptions): Promise<boolean>
  /** Returns the item with all its fields, or undefined. */
  get<const Relation extends RelationName<C> = never>(
    key: Key<C>,
    options?: CallOptions & ExpandOption<Relation>,
  ): Promise<WithRelated<ResponseItem<C>, RelationsOf<C, Others>, Relation> | undefined>
  /** Returns the item with all its fields and its tag, or undefined. */
  getTagged<const Relation extends RelationName<C> = never>(
    key: Key<C>,
    options?: CallOptions & ExpandOption<Relation>,
  ): Promise<TaggedItem<WithRelated<ResponseItem<C>, RelationsOf<C, Others>, Relation>> | undefined>
  insert(
    values: InsertValues<C>,
    options?: SaveCallOptions,
  ): Promise<WithTag<SaveResult<ResponseItem<C>, FieldNameOf<C>>>>
  /** Returns undefined if the item does not exist. */
  update(
    key: Key<C>,
    values: UpdateValues<C>,
    options?: ChangeCallOptions,
  ): Promise<WithTag<SaveResult<ResponseItem<C>, FieldNameOf<C>>> | undefined>
  /** Returns undefined if the item does not exist. */
  delete(
    key: Key<C>,
    options?: ChangeCallOptions,
  ): Promise<WithTag<SaveResult<ResponseItem<C>, FieldNameOf<C>>> | undefined>
  /**
   * Repeats the request of a rejected result with the ids of its warnings. Throws a TypeError for a result that
   * this client did not return for this collection, and for one that has errors.
   */
  confirm(
    result: { readonly rejected: boolean },
    options?: CallOptions,
  ): Promise<WithTag<SaveResult<ResponseItem<C>, FieldNameOf<C>>> | undefined>
}
