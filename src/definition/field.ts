import { requirePlainObject } from '../checks/plain-object.ts'
import type { MessageText } from '../messages/message.ts'
import type { Json } from '../protocol/json.ts'
import type { StoredForm } from './stored-forms.ts'

/** The JSON value of each field type, in items and on the wire. */
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
  /** `hh:mm:ss` */
  time: string
  /** `YYYY-MM-DDThh:mm:ss[.fff]` without zone */
  dateTime: string
  /** `YYYY-MM-DDThh:mm:ss[.fff]Z` */
  instant: string
  uuid: string
  json: Json
}

/** The name of a field type. */
export type FieldTypeName = keyof FieldValues

/**
 * What a delete does while items refer to the deleted one: `restrict` rejects it with 409, `cascade` deletes
 * those items as well, `setNull` sets the fields of the reference to null.
 */
export type OnDelete = 'restrict' | 'cascade' | 'setNull'

/** The options of every field. */
export interface FieldOptions<Value> {
  /** Whether pages contain the field without `$fields`. Default true. */
  readonly includeByDefault?: boolean
  /**
   * Whether only responses with a single item contain the field, for values too large for pages. `$fields`,
   * `$sort` and conditions can't name it, and `$q` does not search it. Default false.
   */
  readonly itemOnly?: boolean
  /** Whether a value must be present when an item is saved. Default false; always true for key fields. */
  readonly required?: boolean
  /**
   * The value of a new item without one. A function is called for each new item. `database`: the default
   * of the column in storage; for the text `database` itself, use a function.
   */
  readonly default?: Value | 'database' | (() => Value)
  /** Whether only handlers can set the field, and clients can't. Default false. */
  readonly readOnly?: boolean
  /**
   * The roles that can read the field. For other callers it does not exist: responses leave it out, and
   * `$fields`, `$sort`, `$q` and conditions can't use it. Default: every caller; an empty list: none.
   */
  readonly readableBy?: readonly string[]
  /**
   * The roles that can set the field; `everyone`: every caller, also one that cannot read it. Default: the callers that can
   * read it. No caller can set a read-only field.
   */
  readonly writableBy?: readonly string[] | 'everyone'
  /** Whether `$q` searches the field. Default true; false for double, boolean and json. */
  readonly search?: boolean
  /** The only values that are allowed. */
  readonly enumeration?: readonly Value[]
  /** Whether no two items have the same value. Null does not count. Default false. */
  readonly unique?: boolean
  /**
   * The endpoint name of a collection of the same application whose key is one field: a value must be the
   * key of one of its items.
   */
  readonly references?: string
  /** With `references`: what a delete of the referenced item does. Default `restrict`. */
  readonly onDelete?: OnDelete
  /** The name in storage. Default: the field's name. */
  readonly column?: string
  /** The name that the column had before, which `rowgate schema apply` changes. */
  readonly renamedFrom?: string
  /** What messages call the field instead of its name: a string, or one for each language. Default: the name. */
  readonly label?: MessageText
  /** A description for readers and generated documentation. */
  readonly description?: string
  /** A value that documentation shows, such as the examples of an OpenAPI document. */
  readonly example?: Value
}

/** Options of {@link text}. Lengths are in code points. */
export interface TextOptions extends FieldOptions<string> {
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression (Unicode mode) that some part of the text must match. Anchor it with ^ and $. */
  readonly pattern?: string
  /** Whether forms for people offer several lines. It does not change which values are allowed. Default false. */
  readonly multiline?: boolean
  /** `char`: the column is a `char(n)` of a database server, and values have no spaces at their end. */
  readonly storedAs?: StoredForm<'text'>
}

/** Bounds of an ordered type; both are inclusive. */
export interface Bounds<Value> {
  readonly minimum?: Value
  readonly maximum?: Value
}

/** Options of {@link integer} and {@link bigint}. */
export interface IntegerOptions<Value> extends FieldOptions<Value>, Bounds<Value> {
  /** `database`: storage generates the number of a new item. Only for a field that is the whole key. */
  readonly generated?: 'database'
}

/** Options of {@link decimal}. */
export interface DecimalOptions extends FieldOptions<string>, Bounds<string> {
  /** The total number of digits, 1 to 38. */
  readonly precision: number
  /** The number of digits after the point, 0 to `precision`. */
  readonly scale: number
  /** `real`: the column holds numbers. The precision is at most 15. Default: text. */
  readonly storedAs?: StoredForm<'decimal'>
}

/** Options of {@link double}. */
export interface DoubleOptions extends FieldOptions<number>, Bounds<number> {}

/** Options of {@link boolean}. */
export interface BooleanOptions extends FieldOptions<boolean> {
  /** How the column holds the values. Default: 1 and 0. */
  readonly storedAs?: StoredForm<'boolean'>
}

/** Options of {@link date}, {@link dateTime} and {@link instant}. */
export interface TimeOptions<Type extends 'date' | 'dateTime' | 'instant' = 'dateTime'>
  extends FieldOptions<string>, Bounds<string> {
  /** `now`: a new item gets the service's current time (UTC). */
  readonly generated?: 'now'
  /** How the column holds the values. Default: as they are in items. */
  readonly storedAs?: StoredForm<Type>
}

/** Options of {@link time}. */
export interface TimeOfDayOptions extends FieldOptions<string>, Bounds<string> {
  /** `now`: a new item gets the service's current time of day (UTC). */
  readonly generated?: 'now'
}

/** Options of {@link uuid}. */
export interface UuidOptions extends FieldOptions<string> {
  /** `uuid`: a new item gets a random UUID. */
  readonly generated?: 'uuid'
  /** How the column holds the values. Default: as they are in items. */
  readonly storedAs?: StoredForm<'uuid'>
}

/** Options of {@link json}. */
export interface JsonOptions extends FieldOptions<Json> {
  /** `jsonb`: the column may return members in another order, and numbers in another form. */
  readonly storedAs?: StoredForm<'json'>
}

/** The options of each field type. */
export interface FieldOptionsByType {
  text: TextOptions
  integer: IntegerOptions<number>
  bigint: IntegerOptions<string>
  decimal: DecimalOptions
  double: DoubleOptions
  boolean: BooleanOptions
  date: TimeOptions<'date'>
  time: TimeOfDayOptions
  dateTime: TimeOptions
  instant: TimeOptions<'instant'>
  uuid: UuidOptions
  json: JsonOptions
}

/** One field as plain data: its type and its options. */
export type Field = {
  readonly [Type in FieldTypeName]: { readonly type: Type } & FieldOptionsByType[Type]
}[FieldTypeName]

/** The fields of a collection by name, in the order of responses. */
export type Fields = Readonly<Record<string, Field>>

/** Returns the field of a name, if it is declared. Objects inherit members, such as `constructor`, that are not fields. */
export function fieldOf(fields: Fields, name: string): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

type Exactly<Given, Allowed> = Given & Readonly<Record<Exclude<keyof Given, keyof Allowed>, never>>

/** With an enumeration, the default must be one of its values. */
type FittingDefault<Options> = Options extends { readonly enumeration: readonly (infer Value)[] }
  ? { readonly default?: Value | 'database' | (() => unknown) }
  : unknown

/** A function that declares a field of a type: `text()`, `integer({ minimum: 1 })`. */
export type FieldBuilder<Type extends FieldTypeName> = <
  const Options extends FieldOptionsByType[Type],
>(
  ...options: object extends FieldOptionsByType[Type]
    ? [options?: Exactly<Options, FieldOptionsByType[Type]> & FittingDefault<Options>]
    : [options: Exactly<Options, FieldOptionsByType[Type]> & FittingDefault<Options>]
) => { readonly type: Type } & ([Options] extends [never] ? object : Options)

function builder<Type extends FieldTypeName>(type: Type): FieldBuilder<Type> {
  return ((options: object = {}) => {
    requirePlainObject('The options', options, `${type}()`)
    return Object.freeze({ ...options, type })
  }) as FieldBuilder<Type>
}

/** A field of Unicode text. */
export const text = builder('text')
/** A field of integers within ±(2^53 − 1). */
export const integer = builder('integer')
/** A field of 64-bit integers, written as strings. */
export const bigint = builder('bigint')
/** A field of exact decimal numbers, written as strings: `decimal({ precision: 20, scale: 4 })`. */
export const decimal = builder('decimal')
/** A field of 64-bit floating point numbers. */
export const double = builder('double')
/** A field of true and false. */
export const boolean = builder('boolean')
/** A field of calendar days, `YYYY-MM-DD`. */
export const date = builder('date')
/** A field of times of a day without zone, `hh:mm:ss`. */
export const time = builder('time')
/** A field of date-times without zone, `YYYY-MM-DDThh:mm:ss[.fff]`. */
export const dateTime = builder('dateTime')
/** A field of instants in UTC, `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
export const instant = builder('instant')
/** A field of UUIDs in lower case. */
export const uuid = builder('uuid')
/** A field of any JSON value with at most 32 levels. It can't be filtered or sorted. */
export const json = builder('json')
