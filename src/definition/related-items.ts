import type { CollectionShape, Item, Shown, Unnamed, ValueOf } from './item.ts'
import type { Json } from '../protocol/json.ts'
import type { Field, Fields } from './field.ts'

/** The items of another collection that refer to an item, in the order and number in which a response lists them. */
export interface ExpandData {
  /** The endpoint name of a collection of the same application. */
  readonly from: string
  /** The fields of its reference. Only needed if it has several references to this collection. */
  readonly reference?: string | readonly string[]
  /** The order, in the form of `defaultSort`. Default: that of its pages. */
  readonly sort?: string | readonly string[]
  /** The most items in one list, from 1 to 100. Default 20. */
  readonly limit?: number
}

/** The related items of a collection, by the name of their member. */
export type ExpandsData<Name extends string = string> = Readonly<
  Record<string, Name | readonly Name[] | ExpandData>
>

/** The names of the relations in `expand` of a definition; any name if the definition is not typed. */
export type RelationName<C extends CollectionShape> = keyof RelationsIn<C> & string

// A definition without relations has the type never or undefined there, and a mere shape has none.
type RelationsIn<C extends CollectionShape> = string extends keyof C['fields']
  ? ExpandsData
  : C extends { readonly fields: unknown; readonly expand?: infer E }
    ? [E] extends [never] | [undefined]
      ? object
      : E & object
    : object

/** An item with the items of relations. */
export type WithRelated<I, Related, Relation extends keyof Related> = Shown<
  I & { readonly [Name in Relation]: Related[Name] }
>

/** The values of the relations of a collection. `Others` are the collections of its application. */
export type RelationsOf<C extends CollectionShape, Others> = string extends keyof C['fields']
  ? Readonly<Record<string, Json>>
  : {
      readonly [Name in RelationName<C>]: ValueOfRelation<C, RelationsIn<C>[Name], Others>
    }

type ValueOfRelation<C extends CollectionShape, One, Others> = One extends {
  readonly from: infer From
}
  ? {
      readonly items: readonly RelatedItem<OtherOf<From, Others>>[]
      readonly more: boolean
    }
  : RelatedItem<OtherOf<TargetOf<C, One>, Others>> | null

// The type of a definition has the names of collections, but for references of several fields.
type TargetOf<C extends CollectionShape, One> = One extends keyof C['fields']
  ? C['fields'][One] extends { readonly references: infer To }
    ? To
    : unknown
  : unknown

type OtherOf<Name, Others> = Name extends keyof Others
  ? Extract<Others[Name], CollectionShape>
  : CollectionShape

/** A related item: what a page of its collection has by default. Items of an unknown collection are records. */
export type RelatedItem<C extends CollectionShape> = string extends keyof C['fields']
  ? Item<C>
  : Unnamed<{
      readonly [
        Name in DefaultName<C['fields']> | ComputedDefault<ComputedFields<C>>
      ]: ResponseItem<C>[Name & keyof ResponseItem<C>]
    }>

type DefaultName<F extends Fields> = {
  [Name in keyof F & string]: F[Name] extends
    { readonly itemOnly: true } | { readonly includeByDefault: false }
    ? never
    : Name
}[keyof F & string]

type ComputedDefault<X> = {
  [Name in keyof X & string]: X[Name] extends { readonly includeByDefault: true } ? Name : never
}[keyof X & string]

/** An item of a response: its stored fields and its computed ones. */
export type ResponseItem<C extends CollectionShape> = Shown<
  Item<C> & ComputedValues<ComputedFields<C>>
>

/**
 * The computed fields of a collection. Their names are unknown if the collection is not typed. The definition may come
 * from another copy of this package, so it is not compared with `CollectionDefinition`.
 */
export type ComputedFields<C> = C extends { readonly computed?: infer Computed }
  ? string extends keyof NonNullable<Computed>
    ? object
    : FieldsOf<NonNullable<Computed>>
  : object

type FieldsOf<Computed> = {
  readonly [Name in keyof Computed]: Computed[Name] extends { readonly field: infer Type }
    ? Type
    : never
}

type ComputedValues<X> = {
  readonly [Name in keyof X & string]: X[Name] extends Field
    ? X[Name] extends { readonly required: true }
      ? ValueOf<X[Name]>
      : ValueOf<X[Name]> | null
    : never
}
