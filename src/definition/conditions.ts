import { isPlainObject } from '../checks/plain-object.ts'
import type { Field, Fields } from './field.ts'
import type { CollectionShape, Shown, Some, Unnamed, ValueOf } from './item.ts'

/**
 * Conditions of application code: all of them must hold. A value means equality, and null that the field has no
 * value; an object has operators. json fields can't be compared. A list is always a group, so a field may be
 * called `and`, `or` or `not` as well.
 *
 * ```ts
 * { status: 'open', price: { gte: '10.00', lt: '20.00' }, or: [{ city: 'Oslo' }, { city: null }] }
 * ```
 */
export type Conditions<C extends CollectionShape> = ConditionsOf<C['fields'], never, unknown>

/**
 * Conditions of row rules: {@link Conditions}, and conditions on the rows of other collections. A comparison with a field
 * without value is unknown, and neither `ne`, `notIn` nor `not` of it is true. A row is visible only if its rule is true.
 */
export type RowConditions<C extends CollectionShape, Own = never> = ConditionsOf<
  C['fields'],
  Own,
  {
    /** Of a list, all must hold. */
    readonly through?:
      | Through<C['fields']>
      | readonly Through<C['fields']>[]
      | NamedCondition<C['fields'], 'through', Own>
  }
>

type ConditionsOf<F extends Fields, Own, Extra> = Some<
  { readonly [Name in ComparedName<F> | GroupName]?: Member<F, Name, Own, Extra> } & Extra
>

type GroupName = 'and' | 'or' | 'not'

// The types of members are computed only when they are used.
type Member<F extends Fields, Name extends string, Own, Extra> = string extends Name
  ? LooseConditions[string]
  : | (Name extends keyof F ? FieldCondition<F[Name], Own> : never)
    | (Name extends GroupName ? readonly ConditionsOf<F, Own, Extra>[] : never)
    | (Name extends Exclude<'not', keyof F> ? ConditionsOf<F, Own, Extra> : never)

/** The values that fields must have; null means that the field has no value. */
export type EqualConditions<C extends CollectionShape> = Shown<{
  readonly [Name in ComparedName<C['fields']>]?: ValueOf<C['fields'][Name]> | null
}>

/** That a row of another collection, whose key the field or fields are, is one that the caller may read. */
export interface Through<F extends Fields = Fields> {
  /** The field of a key that is one field. */
  readonly field?: keyof F & string
  /** The fields of a composite key, in its order. */
  readonly fields?: readonly (keyof F & string)[]
  /** The endpoint name of a collection of the same application. */
  readonly collection: string
}

/** The operators of a condition on a field: all of them must hold. */
export interface Operators<Value> {
  readonly eq?: Value | null
  /** Also met by a field without value, unless it is compared with null. In a row rule, that is unknown. */
  readonly ne?: Value | null
  /** Before the value, in the order of `sort`. A field without value never is. */
  readonly lt?: Value
  readonly lte?: Value
  readonly gt?: Value
  readonly gte?: Value
  /** One of at most 10,000 values; none of an empty list. */
  readonly in?: readonly (Value | null)[]
  /** Also met by a field without value, unless the list contains null. In a row rule, that is unknown. */
  readonly notIn?: readonly (Value | null)[]
  readonly isNull?: boolean
}

/** The operators of a condition on a field of type text. */
export interface TextOperators<Value> extends Operators<Value> {
  /** The code points that the text contains. */
  readonly contains?: string
  readonly startsWith?: string
}

/** Conditions on a collection that is named by a string, so its fields are not typed. */
interface LooseConditions {
  readonly [name: string]:
    Loose | TextOperators<Loose> | LooseConditions | readonly LooseConditions[]
}

type Loose = string | number | boolean | null

type ComparedName<F extends Fields> = {
  [Name in keyof F & string]: F[Name]['type'] extends 'json' ? never : Name
}[keyof F & string]

type FieldCondition<One extends Field, Own> = Unnamed<
  | ValueOf<One>
  | null
  | Own
  | (One['type'] extends 'text' ? TextOperators<ValueOf<One> | Own> : Operators<ValueOf<One> | Own>)
>

type NamedCondition<F extends Fields, Name extends string, Own> = Name extends keyof F
  ? FieldCondition<F[Name], Own>
  : never

/** Returns whether the member `through` of given conditions is meant, and not a field of this name. */
export function isThrough(given: unknown): given is Through {
  return isPlainObject(given) && 'collection' in given
}
