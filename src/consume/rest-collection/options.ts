import type { CollectionShape, Item } from '../../definition/item.ts'
import type { ServingContext } from '../../definition/serve.ts'
import type { EndpointResponse } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Paging } from '../paging/paging-options.ts'

type FieldNameOf<C extends CollectionShape> = keyof C['fields'] & string

/** Members of an endpoint's input. */
export type InputMembers = Readonly<Record<string, unknown>>

/** Where a field is in the other service's objects, and how its values are converted. */
export interface FieldMapping {
  /** The names that lead to the value, as in `author/login`. Default: the name of the field. */
  readonly path?: string | undefined
  /** Returns the value of the field. Undefined becomes null. Default: the value as it is. */
  readonly read?: ((value: unknown) => unknown) | undefined
  /** Returns the value that is sent. Default: the value as it is. */
  readonly write?: ((value: unknown) => unknown) | undefined
}

/** A condition on a field that the other service evaluates. */
export interface FilterMapping {
  /** The parameter of the endpoint, or the path of a member of its body: `body/filter/state`. */
  readonly parameter: string
  /**
   * Whether exactly the items match that rowgate would select. Otherwise each item is compared again here,
   * and pages are completed here. Default: true.
   */
  readonly exact?: boolean | undefined
  /**
   * Returns the value of the parameter; undefined if the other service can't evaluate the condition. Null
   * stands for items without value. Default: the value; conditions with null are evaluated here.
   */
  readonly value?: ((value: string | number | boolean | null) => unknown) | undefined
}

/** One field of an order. */
export interface SortEntry<Name extends string = string> {
  readonly field: Name
  readonly descending: boolean
}

/** The orders that the other service can produce. Each must equal the order of rowgate. */
export interface SortMapping<Name extends string = string> {
  /** The fields by which it can sort. */
  readonly fields: readonly Name[]
  /** Returns the input that requests an order; undefined if that order is not possible. */
  readonly input: (field: Name, descending: boolean) => InputMembers | undefined
  /** Whether it sorts items with equal values by the key, ascending. Default: false. */
  readonly thenByKey?: boolean | undefined
}

/** Where the number of all matching items is in a response. */
export interface TotalMapping {
  /** The names that lead to the exact number, as in `meta/total`. */
  readonly path: string
  /** The input that requests the number. Default: none. */
  readonly input?: InputMembers | undefined
}

/** How pages are read. */
export interface ListMapping<C extends CollectionShape> {
  /** An endpoint of the method GET, or POST for a service that lists by POST. */
  readonly endpoint: Endpoint<never>
  /** The names that lead to the array of items, as in `data/orders`. Default: the response is the array. */
  readonly items?: string | undefined
  /** How further pages are requested, and what ends the list. Default: one response has all items. */
  readonly paging?: Paging | undefined
  /** The parameter for the number of items in a page, and its maximum. Default: the service decides. */
  readonly pageSize?: { readonly parameter: string; readonly maximum: number } | undefined
  /** The exact number of all items, if responses contain it; reading ends there. Default: items are counted here. */
  readonly total?: string | TotalMapping | undefined
  /** The conditions that are passed on: a parameter for each field. Default: none. */
  readonly filter?:
    Readonly<Partial<Record<FieldNameOf<C>, string | FilterMapping | undefined>>> | undefined
  /** The orders that are passed on. A function returns the input of a complete order, or undefined. */
  readonly sort?:
    | SortMapping<FieldNameOf<C>>
    | ((order: readonly SortEntry<FieldNameOf<C>>[]) => InputMembers | undefined)
    | undefined
  /** The parameter for `$q`. `exact` is false by default: other services search otherwise. */
  readonly search?: { readonly parameter: string; readonly exact?: boolean | undefined } | undefined
  /** Returns the input that limits the fields of the items. Default: none. */
  readonly select?: ((fields: readonly FieldNameOf<C>[]) => InputMembers) | undefined
  /**
   * How much is read to filter, search, sort or count here, where the other service can't. A request that
   * needs more responds 400. Default: 1,000 rows and 100 pages.
   */
  readonly complete?:
    { readonly rows?: number | undefined; readonly pages?: number | undefined } | undefined
}

/** How an item is addressed, and where it is in a response. */
export interface ItemMapping<C extends CollectionShape> {
  readonly endpoint: Endpoint<never>
  /**
   * Returns the path parameters of an item. Default: each path parameter is the key field of its name.
   */
  readonly input?:
    ((key: Readonly<Record<string, string | number | boolean>>) => InputMembers) | undefined
  /** The names that lead to the item in the response. Default: the response is the item. */
  readonly item?: string | undefined
  /** Describes why the other service rejected a save or delete. Default: by its status. */
  readonly rejection?: ((response: EndpointResponse) => Rejection<C> | undefined) | undefined
}

/** How an item is saved. */
export interface SaveMapping<C extends CollectionShape> extends ItemMapping<C> {
  /**
   * Returns the body. Default: for an Insert and for PUT, all fields that have a value; otherwise the changed
   * fields. Key fields are sent by an Insert only.
   */
  readonly body?:
    ((call: { readonly item: Item<C>; readonly changes: Partial<Item<C>> }) => unknown) | undefined
}

/** Why a save or delete was rejected. A message is sent to the client. */
export type Rejection<C extends CollectionShape> =
  | {
      readonly kind: 'duplicate' | 'invalid' | 'referenced' | 'missing' | 'unavailable'
      readonly fields?: readonly FieldNameOf<C>[] | undefined
    }
  | { readonly message: string; readonly field?: FieldNameOf<C> | undefined }

/** The options of {@link restCollection}. An event without endpoint is not published. */
export interface RestCollectionOptions<C extends CollectionShape> {
  readonly list?: ListMapping<C> | undefined
  readonly get?: ItemMapping<C> | undefined
  readonly insert?: SaveMapping<C> | undefined
  readonly update?: SaveMapping<C> | undefined
  readonly delete?: ItemMapping<C> | undefined
  /** Where fields are in the other service's objects: a path, or a mapping. Default: their names. */
  readonly fields?:
    Readonly<Partial<Record<FieldNameOf<C>, string | FieldMapping | undefined>>> | undefined
  /**
   * Returns members of every input, such as the tenant of the caller. They replace what a client requests: conditions
   * with other values are evaluated here, keys with other values have no item, and saves with other values are
   * rejected. A member that is undefined or null is a TypeError. Default: none.
   */
  readonly input?: ((context: ServingContext) => InputMembers) | undefined
  /** The time limit of each event, in milliseconds. Default: `handlerTimeout` of the service. */
  readonly timeout?: number | undefined
}
