import { withoutUndefined } from '../checks/options.ts'
import { requirePlainObject } from '../checks/plain-object.ts'
import type { ComputedField } from './computed.ts'
import type { Fields, OnDelete } from './field.ts'
import type { PublishedEventName } from './handler.ts'
import type { CustomEvent } from './user-defined-event.ts'
import type { Handlers } from './handlers.ts'
import type { CollectionShape, Draft, Item } from './item.ts'
import type { OnlyFields, OperatorsData, OperatorsOn } from './operators.ts'
import type { ExpandsData } from './related-items.ts'
import type { EventRoles, RowRule } from './rights.ts'
import type { Serve } from './serve.ts'
import type { Validation } from './validation.ts'

/** A reference by several fields. */
export interface ReferenceData<Name extends string = string> {
  readonly fields: readonly Name[]
  /** The endpoint name of a collection of the same application. */
  readonly collection: string
  /** What a delete of the referenced item does. Default `restrict`. */
  readonly onDelete?: OnDelete
}

/** How clients state which version of an item they have read. */
export interface ConcurrencyData<Name extends string = string> {
  /** Whether an update or delete of an item may have the header `If-Match`, or must have it. */
  readonly ifMatch: 'optional' | 'required'
  /**
   * A field whose value changes with every change of the item, for instance by a trigger of the database. It then stands for
   * the version of the item. Default: all fields that the caller can read.
   */
  readonly version?: Name
}

/** What a table has that `rowgate schema` leaves as it is. Columns are named as in the database. */
export interface UnmanagedData {
  /** Columns of which no field is published. */
  readonly columns?: readonly string[]
  /** The columns of each foreign key that is no reference, or that does on delete what `onDelete` can't say. */
  readonly foreignKeys?: readonly (readonly string[])[]
}

/** The part of a collection that is plain data, and that a JSON file can contain. */
export interface CollectionData {
  /**
   * The events that HTTP may invoke. Default: all four; without a key: Filter and Insert; of a served
   * collection: those that have a function.
   */
  readonly publishes?: readonly PublishedEventName[]
  /** The number of items in a page without `$limit`, and the largest one. Default 10 and 100. */
  readonly pageSize?: { readonly default?: number; readonly maximum?: number }
  /** The order of pages without `$sort`, in its form: `['-releaseDate', 'name']`. Default: by key. */
  readonly defaultSort?: readonly string[]
  /**
   * Whether each page of HTTP has the cursor of the next one in the header `X-Svc-Next-Cursor`, with which
   * `$after` continues: as fast at the end of a large collection as at its start. Default false.
   */
  readonly cursor?: boolean
  /**
   * What `$count=true` returns for a page that does not show how many items there are: `estimated` allows the
   * estimate of a storage that has one, which the header `X-Svc-Estimated-Count` then marks. Counts of a search,
   * for callers with a row rule and in process are always exact. Default `exact`.
   */
  readonly count?: 'exact' | 'estimated'
  /**
   * Whether responses have an `ETag`, and updates and deletes of an item can state with `If-Match` which version of it they
   * change. Default: they have none, and the header is ignored.
   */
  readonly concurrency?: ConcurrencyData
  /** Names for references, by which `operators` lead to the referenced item. Default: the names that `expand` has for them. */
  readonly relations?: Readonly<Record<string, string | readonly string[]>>
  /**
   * The operators that conditions of HTTP may have besides equality, by field: `{ price: ['gte', 'lt'] }` allows
   * `price.gte=10`. `indexed`: `lt`, `lte`, `gt`, `gte` and `in` of each field that leads an index, a unique group or the
   * key. True: all operators of all fields, for small tables. `'customer.city': ['eq', 'in']` allows conditions on the item
   * of a relation. Default: none, and such a parameter is unknown.
   */
  readonly operators?: OperatorsData
  /** The fields that every request for a page must filter by. Default: none. */
  readonly requiredFilters?: readonly string[]
  /** Whether the collection is a single item, which GET of its path returns. It has no key. Default false. */
  readonly singleton?: boolean
  /** The roles that may use the collection: a caller needs one of them. Default: every caller. */
  readonly roles?: readonly string[]
  /** The roles that may invoke each event, besides `roles`. Default: every caller. */
  readonly eventRoles?: EventRoles
  /** The name in storage. Default: the endpoint name. */
  readonly table?: string
  /** The name that the table had before, which `rowgate schema apply` changes. */
  readonly renamedFrom?: string
  /**
   * Whether collections of other applications may have the same table. They must set it as well. Collections
   * of one application share a table without it. Default false.
   */
  readonly sharesTable?: boolean
  /**
   * Whether the response cache of the service keeps responses of the collection. Set it to false if rows
   * change without a commit of the database, or are rarely read twice. Default true.
   */
  readonly cache?: boolean
  /**
   * `indexed`: `$q` uses an index of the database. SQLite and PostgreSQL have one; other storage
   * ignores it. The items that are found are the same. Default: `$q` reads all items.
   */
  readonly search?: 'indexed'
  /** Groups of fields whose values together are unique. A group with a null does not count. */
  readonly unique?: readonly (readonly string[])[]
  /**
   * Groups of fields that are filtered or sorted by together. `ensureSchema` creates an index for each.
   * `-name` is a descending field.
   */
  readonly index?: readonly (readonly string[])[]
  /**
   * References whose key has several fields: `fields` are fields of this collection, in the order of the
   * key of the other one. A reference of one field is an option of that field.
   */
  readonly references?: readonly ReferenceData[]
  /**
   * The related items that `$expand` adds to those of a response, by the name of their member: the item that a reference
   * leads to, named by its fields, or the items that refer to this one. Default: none.
   */
  readonly expand?: ExpandsData
  /** What `rowgate schema` neither changes nor drops. `rowgate introspect` writes it here. Default: nothing. */
  readonly unmanaged?: UnmanagedData
  /**
   * The field whose value names an item for people, such as `companyName`: forms and lists of choices show it beside the
   * key. Default: none, the key alone.
   */
  readonly titleField?: string
  /** A description for readers and generated documentation. */
  readonly description?: string
  /**
   * The code that this definition was exported without, such as `rows` or `events.Delete.before`.
   * Packages contain it. A service serves the collection only after `withCode` has supplied the code that
   * can decide rights.
   */
  readonly omittedCode?: readonly string[]
}

/**
 * The code of a collection: validations, row rules, computed fields, handlers, user-defined events, and
 * functions that serve it. The parameters from `PS` to `PD` belong to {@link Handlers}; `X` are the computed fields.
 */
export interface CollectionBehaviour<
  C extends CollectionShape,
  U = object,
  PS = unknown,
  PI = PS,
  PU = PS,
  PD = unknown,
  X extends Fields = Fields,
> {
  readonly validations?: readonly Validation<Draft<C>>[]
  /** Limits the rows that a caller can read and write. Default: all rows. */
  readonly rows?: RowRule<C>
  /** Fields of responses that functions compute from stored fields, by name. Made by `computed`. */
  readonly computed?: { readonly [Name in keyof X]: ComputedField<Item<C>, X[Name]> }
  /** Handlers that run before an event, after it, and after its commit. */
  readonly events?: Handlers<C, PS, PI, PU, PD>
  /** The functions that serve the collection instead of storage. */
  readonly serve?: Serve<C>
  /** User-defined events: named functions for in-process calls. */
  readonly userDefinedEvents?: U & Record<string, (event: CustomEvent<C>, input: never) => unknown>
}

/** The data of a collection whose fields have these names. */
type CollectionDataOf<Name extends string> = Omit<
  CollectionData,
  | 'defaultSort'
  | 'concurrency'
  | 'operators'
  | 'relations'
  | 'requiredFilters'
  | 'titleField'
  | 'unique'
  | 'index'
  | 'references'
  | 'expand'
> & {
  readonly defaultSort?: readonly NoInfer<Name | `-${Name}`>[]
  readonly concurrency?: ConcurrencyData<NoInfer<Name>>
  readonly relations?: Readonly<Record<string, NoInfer<Name> | readonly NoInfer<Name>[]>>
  readonly requiredFilters?: readonly NoInfer<Name>[]
  readonly titleField?: NoInfer<Name>
  readonly unique?: readonly (readonly NoInfer<Name>[])[]
  readonly index?: readonly (readonly NoInfer<Name | `-${Name}`>[])[]
  readonly references?: readonly ReferenceData<NoInfer<Name>>[]
}

type KeyNames = string | readonly string[]

/** Returns the names of the key's fields, in its order; none for a collection without key. */
export function keyNamesOf({
  key = [],
}: {
  readonly key?: KeyNames | undefined
}): readonly string[] {
  return typeof key === 'string' ? [key] : key
}

/** The fields and the key of a declared collection. */
export type ShapeOf<F extends Fields, K> = {
  readonly fields: F
  readonly key: Extract<K, KeyNames>
}

/**
 * A declared collection. It keeps the exact types of fields, key, user-defined events and computed fields, from which
 * the types of items, keys and in-process calls are inferred. Validations and handlers are typed in
 * `defineCollection`, and loosely typed here.
 */
export interface CollectionDefinition<
  F extends Fields = Fields,
  K = KeyNames | undefined,
  U = object,
  X extends Fields = Fields,
  O = OperatorsData | undefined,
  E = ExpandsData | undefined,
>
  extends
    Omit<CollectionData, 'operators' | 'expand'>,
    CollectionBehaviour<CollectionShape, U, unknown, unknown, unknown, unknown, X> {
  readonly fields: F
  /** The primary key: a field, or several in order. Without a key, items have no path. */
  readonly key?: Extract<K, KeyNames>
  /** The operators that conditions of HTTP may have. */
  readonly operators?: Extract<O, OperatorsData>
  /** The related items that responses can have. */
  readonly expand?: Extract<E, ExpandsData>
}

/** The type of no user-defined events: no name is one of its keys. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- the type must be empty
export type NoEvents = Record<never, never>

/** The type of no computed fields. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- the type must be empty
export type NoFields = Record<never, never>

/** The user-defined events of a declared collection. */
export type UserDefinedEvents<F extends Fields, K> = Record<
  string,
  (event: CustomEvent<ShapeOf<F, K>>, input: never) => unknown
>

/**
 * Declares a collection: its plain data, and its code. Returns it frozen. `createService` checks it.
 *
 * ```ts
 * const customers = defineCollection(
 *   { key: 'customerId', fields: { customerId: text({ maxLength: 5 }), phone: text() } },
 *   {
 *     validations: [
 *       warning('no-phone', {
 *         field: 'phone',
 *         check: (item) => (item.phone === null ? 'Add a phone number.' : undefined),
 *       }),
 *     ],
 *   },
 * )
 * ```
 */
export function defineCollection<
  const F extends Fields,
  const K extends (keyof F & string) | readonly (keyof F & string)[] | undefined = undefined,
  U extends UserDefinedEvents<F, K> = NoEvents,
  PS = never,
  PI = never,
  PU = never,
  PD = never,
  const X extends Fields = NoFields,
  const O extends OperatorsOn<F> | undefined = undefined,
  const E extends ExpandsData<keyof F & string> | undefined = undefined,
>(
  data: CollectionDataOf<keyof F & string> & {
    readonly fields: F
    readonly key?: K
    readonly operators?: O & OnlyFields<O, F>
    readonly expand?: E
  } & CollectionBehaviour<ShapeOf<F, K>>,
  behaviour: CollectionBehaviour<ShapeOf<F, K>, U, PS, PI, PU, PD, X> = {},
): CollectionDefinition<F, K, U, X, O, E> {
  requirePlainObject('The data of a collection', data, 'defineCollection')
  requirePlainObject('The behaviour of a collection', behaviour, 'defineCollection')
  // An undefined member must not remove a member of the data, such as its row rule.
  return Object.freeze({
    ...data,
    ...withoutUndefined(behaviour),
  }) as unknown as CollectionDefinition<F, K, U, X, O, E>
}
