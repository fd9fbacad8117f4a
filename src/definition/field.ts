import type { Json } from '../protocol/json.ts'

/** What a value of each field type is in an item: its JSON on the wire (section 2.3). */
export interface FieldValues {
  text: string
  integer: number
  /** Decimal digits: a 64-bit integer does not fit a JavaScript number. */
  bigint: string
  /** Decimal digits with the field's fixed scale. */
  decimal: string
  double: number
  boolean: boolean
  /** `YYYY-MM-DD` */
  date: string
  /** `YYYY-MM-DDThh:mm:ss[.fff]` without zone */
  dateTime: string
  /** `YYYY-MM-DDThh:mm:ss[.fff]Z` */
  instant: string
  uuid: string
  json: Json
}

/** The name of a field type. */
export type FieldTypeName = keyof FieldValues

/** What every field may declare. */
export interface FieldOptions<Value> {
  /** Whether a collection response contains the field unasked (section 2.3). Default true. */
  readonly includeByDefault?: boolean
  /**
   * Whether only responses with a single item contain the field, for values too large for pages. It can't be
   * named in `$fields`, `$sort` or conditions, and `$q` does not look into it. Default false.
   */
  readonly itemOnly?: boolean
  /** Whether a value must be present when an item is saved. Default false; always true for key fields. */
  readonly required?: boolean
  /** The value of a new item that brings none. A function is called for each new item. */
  readonly default?: Value | (() => Value)
  /** Whether consumers may not set the field. Handlers may. Default false. */
  readonly readOnly?: boolean
  /**
   * The roles that see the field (D45). For everybody else it does not exist: not in answers, `$fields`,
   * `$sort`, `$q` or conditions. Default: everybody; an empty list: nobody.
   */
  readonly readableBy?: readonly string[]
  /** The roles that may set the field (D45). Default: everybody, unless it is read-only. */
  readonly writableBy?: readonly string[]
  /** Whether `$q` looks into the field (D7). Default true, but false for double, boolean and json. */
  readonly search?: boolean
  /** The only values that are allowed. */
  readonly enumeration?: readonly Value[]
  /** The name in storage. Default: the field's name. */
  readonly column?: string
  /** For people and for generated documentation. */
  readonly description?: string
}

/** Options of {@link text}. Lengths are in code points. */
export interface TextOptions extends FieldOptions<string> {
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression (Unicode mode) that some part of the text must match. Anchor it with ^ and $. */
  readonly pattern?: string
}

/** Bounds of an ordered type; both are inclusive. */
export interface Bounds<Value> {
  readonly minimum?: Value
  readonly maximum?: Value
}

/** Options of {@link integer} and {@link bigint}. */
export interface IntegerOptions<Value> extends FieldOptions<Value>, Bounds<Value> {
  /** `database`: storage numbers new items. Only for a field that is the whole key. */
  readonly generated?: 'database'
}

/** Options of {@link decimal}. */
export interface DecimalOptions extends FieldOptions<string>, Bounds<string> {
  /** The number of digits in all, 1 to 38. */
  readonly precision: number
  /** The number of digits after the point, 0 to `precision`. */
  readonly scale: number
}

/** Options of {@link double}. */
export interface DoubleOptions extends FieldOptions<number>, Bounds<number> {}

/** Options of {@link date}, {@link dateTime} and {@link instant}. */
export interface TimeOptions extends FieldOptions<string>, Bounds<string> {
  /** `now`: a new item gets the service's current time (UTC). */
  readonly generated?: 'now'
}

/** Options of {@link uuid}. */
export interface UuidOptions extends FieldOptions<string> {
  /** `uuid`: a new item gets a random one. */
  readonly generated?: 'uuid'
}

/** The options of each field type. */
export interface FieldOptionsByType {
  text: TextOptions
  integer: IntegerOptions<number>
  bigint: IntegerOptions<string>
  decimal: DecimalOptions
  double: DoubleOptions
  boolean: FieldOptions<boolean>
  date: TimeOptions
  dateTime: TimeOptions
  instant: TimeOptions
  uuid: UuidOptions
  json: FieldOptions<Json>
}

/** One field as plain data: its type and its options. */
export type Field = {
  readonly [Type in FieldTypeName]: { readonly type: Type } & FieldOptionsByType[Type]
}[FieldTypeName]

/** The fields of a collection by name, in the order of responses. */
export type Fields = Readonly<Record<string, Field>>

type Exactly<Given, Allowed> = Given & Readonly<Record<Exclude<keyof Given, keyof Allowed>, never>>

/** Where values are enumerated, the default is one of them. */
type FittingDefault<Options> = Options extends { readonly enumeration: readonly (infer Value)[] }
  ? { readonly default?: Value | (() => unknown) }
  : unknown

type FieldBuilder<Type extends FieldTypeName> = <const Options extends FieldOptionsByType[Type]>(
  ...options: object extends FieldOptionsByType[Type]
    ? [options?: Exactly<Options, FieldOptionsByType[Type]> & FittingDefault<Options>]
    : [options: Exactly<Options, FieldOptionsByType[Type]> & FittingDefault<Options>]
) => { readonly type: Type } & ([Options] extends [never] ? object : Options)

function builder<Type extends FieldTypeName>(type: Type): FieldBuilder<Type> {
  return ((options?: object) => Object.freeze({ ...options, type })) as FieldBuilder<Type>
}

/** A field of Unicode text. */
export const text = builder('text')
/** A field of whole numbers within ±(2^53 − 1). */
export const integer = builder('integer')
/** A field of 64-bit whole numbers, written as text. */
export const bigint = builder('bigint')
/** A field of exact decimal numbers, written as text: `decimal({ precision: 20, scale: 4 })`. */
export const decimal = builder('decimal')
/** A field of 64-bit floating point numbers. */
export const double = builder('double')
/** A field of true and false. */
export const boolean = builder('boolean')
/** A field of calendar days, `YYYY-MM-DD`. */
export const date = builder('date')
/** A field of date-times without zone, `YYYY-MM-DDThh:mm:ss[.fff]`. */
export const dateTime = builder('dateTime')
/** A field of instants in UTC, `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
export const instant = builder('instant')
/** A field of UUIDs in lower case. */
export const uuid = builder('uuid')
/** A field of any JSON value, to 32 levels of nesting. Can't be filtered or sorted. */
export const json = builder('json')
