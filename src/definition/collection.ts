import { withoutUndefined } from './options.ts'
import type { Fields } from './field.ts'
import type { CustomEvent, Handlers, PublishedEventName } from './handler.ts'
import type { CollectionShape, Draft } from './item.ts'
import type { EventRoles, RowRule } from './rights.ts'
import type { Validation } from './validation.ts'

/** What a collection is, as plain data that a JSON file can hold as well. */
export interface CollectionData {
  /** The events that HTTP may invoke. Default: all four; without a key: Filter and Insert. */
  readonly publishes?: readonly PublishedEventName[]
  /** Items a page: when the request names no `$limit`, and at most. Default 10 and 100 (section 8). */
  readonly pageSize?: { readonly default?: number; readonly maximum?: number }
  /** The order of pages that name none, as `$sort` has it: `['-releaseDate', 'name']`. Default: by key (D5). */
  readonly defaultSort?: readonly string[]
  /** The fields that every request for a page must name as conditions. Default: none. */
  readonly requiredFilters?: readonly string[]
  /** Whether the collection is a single item: GET of its own path answers with it. It has no key. Default false. */
  readonly singleton?: boolean
  /** The roles that may use the collection: a caller needs one of them. Default: everybody (D45). */
  readonly roles?: readonly string[]
  /** The roles that may invoke each event, besides `roles`. Default: everybody (D45). */
  readonly eventRoles?: EventRoles
  /** The name in storage. Default: the endpoint name. */
  readonly table?: string
  /**
   * Whether collections of other applications may have the same table. They must say so too. Collections
   * of one application share a table without it. Default false.
   */
  readonly sharesTable?: boolean
  /** For people and for generated documentation. */
  readonly description?: string
  /**
   * The places of the code that this definition was exported without, such as `rows` or
   * `events.Delete.before`. Packages write it; a service serves the collection once the code that can
   * decide rights is supplied with `withCode`.
   */
  readonly omittedCode?: readonly string[]
}

/** What a collection does: the host's code around its events. */
export interface CollectionBehaviour<C extends CollectionShape, U = object> {
  readonly validations?: readonly Validation<Draft<C>>[]
  /** Narrows what each caller sees and writes to some rows. Default: all rows (D45). */
  readonly rows?: RowRule<C>
  /** Handlers before, after and after the commit of the contract's events. */
  readonly events?: Handlers<C>
  /** User-defined events: code with a name, for in-process calls only (section 6). */
  readonly userDefinedEvents?: U & Record<string, (event: CustomEvent<C>, input: never) => unknown>
}

/** The data of a collection whose fields have these names. */
type CollectionDataOf<Name extends string> = Omit<
  CollectionData,
  'defaultSort' | 'requiredFilters'
> & {
  readonly defaultSort?: readonly NoInfer<Name | `-${Name}`>[]
  readonly requiredFilters?: readonly NoInfer<Name>[]
}

type KeyNames = string | readonly string[]

type ShapeOf<F extends Fields, K> = { readonly fields: F; readonly key: Extract<K, KeyNames> }

/**
 * A declared collection. It keeps the exact types of fields, key and user-defined events, from which
 * the types of items, keys and in-process calls are inferred. Rules and handlers are checked where
 * they are declared, and are loosely typed from here on.
 */
export interface CollectionDefinition<
  F extends Fields = Fields,
  K = KeyNames | undefined,
  U = object,
>
  extends CollectionData, CollectionBehaviour<CollectionShape, U> {
  readonly fields: F
  /** The field, or the fields in order, that make the primary key. Absent: items have no path. */
  readonly key?: Extract<K, KeyNames>
}

/** The type of no user-defined events: no name is one of its keys. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- being empty is its point
type NoEvents = Record<never, never>

/**
 * Declares a collection (section 2.3): what it is, and, apart from that plain data, what it does.
 * `createService` checks it completely.
 *
 * ```ts
 * const customers = defineCollection(
 *   { key: 'customerId', fields: { customerId: text({ maxLength: 5 }), phone: text() } },
 *   {
 *     validations: [
 *       warning('no-phone', {
 *         field: 'phone',
 *         check: (item) => (item.phone === null ? 'Nobody can call them.' : undefined),
 *       }),
 *     ],
 *   },
 * )
 * ```
 */
export function defineCollection<
  const F extends Fields,
  const K extends (keyof F & string) | readonly (keyof F & string)[] | undefined = undefined,
  U extends Record<string, (event: CustomEvent<ShapeOf<F, K>>, input: never) => unknown> = NoEvents,
>(
  data: CollectionDataOf<keyof F & string> & {
    readonly fields: F
    readonly key?: K
  } & CollectionBehaviour<ShapeOf<F, K>>,
  behaviour: CollectionBehaviour<ShapeOf<F, K>, U> = {},
): CollectionDefinition<F, K, U> {
  // A member that is undefined must not take back what the data says, such as its row rule.
  return Object.freeze({
    ...data,
    ...withoutUndefined(behaviour),
  }) as unknown as CollectionDefinition<F, K, U>
}
