import type { Field, Fields, FieldValues } from './field.ts'
import type { Increment } from './increment.ts'

/** The fields and the key of a collection, from which its types are inferred. */
export interface CollectionShape {
  readonly fields: Fields
  readonly key?: string | readonly string[]
}

/** The type of the values of a field, without null. */
export type ValueOf<F extends Field> = F extends { readonly enumeration: readonly (infer Value)[] }
  ? Value
  : FieldValues[F['type']]

/** The names of the key fields. */
export type KeyName<C extends CollectionShape> = [NonNullable<C['key']>] extends [never]
  ? never
  : NonNullable<C['key']> extends readonly (infer Name)[]
    ? Name & string
    : NonNullable<C['key']> & string

/**
 * `T` without the name of the alias that it declares. The compiler prints an alias with the whole definition as its
 * argument. It prints the members of a mapped type over the names of a type parameter, unless an alias declares the
 * mapped type directly.
 */
export type Unnamed<T> = T

/** The members of `T`: what editors and messages of the compiler print of the alias that this type declares. */
export type Shown<T> = Unnamed<{ [Name in keyof T]: T[Name] }>

/** An item with all its fields. A field without value is null. */
export type Item<C extends CollectionShape> = ItemOf<C['fields'], KeyName<C>>

type ItemOf<F extends Fields, KeyNames> = Unnamed<{
  readonly [Name in keyof F]: Name extends KeyNames
    ? ValueOf<F[Name]>
    : F[Name] extends { readonly required: true }
      ? ValueOf<F[Name]>
      : ValueOf<F[Name]> | null
}>

/** An item in a handler or validation: any field may be null. */
export type Draft<C extends CollectionShape> = DraftOf<C['fields']>

type DraftOf<F extends Fields> = Unnamed<{ -readonly [Name in keyof F]: ValueOf<F[Name]> | null }>

type Supplied = { readonly required: true }
type SuppliedByService =
  { readonly default: unknown } | { readonly generated: string } | { readonly readOnly: true }

/** Fields that not every caller can set. As in `writersOf`, `writableBy` follows `readableBy`. */
type SetBySome =
  | { readonly writableBy: readonly string[] }
  | { readonly readableBy: readonly string[]; readonly writableBy?: undefined }

/** The names of the fields that an insert of every caller must contain. */
export type RequiredName<C extends CollectionShape> = {
  [Name in keyof C['fields'] & string]: C['fields'][Name] extends SuppliedByService | SetBySome
    ? never
    : Name extends KeyName<C>
      ? Name
      : C['fields'][Name] extends Supplied
        ? Name
        : never
}[keyof C['fields'] & string]

/**
 * The values of an insert. A field that not every caller can set is optional, such as one with `writableBy: []`, whose
 * value a row rule or a handler supplies.
 */
export type InsertValues<C extends CollectionShape> = Shown<
  Partial<Item<C>> & Pick<Item<C>, RequiredName<C>>
>

/** The values of an update: an absent field keeps its value, null removes it. */
export type UpdateValues<C extends CollectionShape> = Some<Item<C>>

/** The values of an update in process, which may also be increments. */
export type UpdateChanges<C extends CollectionShape> = ChangesOf<C['fields'], KeyName<C>, Item<C>>

type ChangesOf<F extends Fields, KeyNames, I> = Unnamed<{
  readonly [Name in keyof I]?: Name extends KeyNames
    ? I[Name]
    : F[Name & keyof F] extends { readonly type: 'integer' | 'bigint' | 'decimal' }
      ? I[Name] | Increment
      : I[Name]
}>

/** Some members of `T`. */
export type Some<T> = Unnamed<{ [Name in keyof T]?: T[Name] }>

/** The key of an item: its value, or the values of a composite key in order. */
export type Key<C extends CollectionShape> = KeyOf<C, NonNullable<C['key']>>

type KeyOf<C extends CollectionShape, Names> = Names extends readonly unknown[]
  ? { readonly [Index in keyof Names]: KeyPart<C, Names[Index]> }
  : KeyPart<C, Names>

type KeyPart<C extends CollectionShape, Name> = Name extends keyof C['fields'] & string
  ? ValueOf<C['fields'][Name]>
  : never
