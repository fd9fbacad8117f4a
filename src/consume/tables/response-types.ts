import type { AnyColumns, Cell } from './table.ts'

/** The levels of objects and arrays of a response that its types follow. Deeper ones are not typed. */
export type Levels = [0, 0, 0, 0, 0, 0, 0, 0]

/** A value that is not an object or array. */
export type Scalar = string | number | boolean | null | undefined

type EscapeTilde<K extends string> = K extends `${infer Head}~${infer Tail}`
  ? `${Head}~0${EscapeTilde<Tail>}`
  : K
type EscapeSlash<K extends string> = K extends `${infer Head}/${infer Tail}`
  ? `${Head}~1${EscapeSlash<Tail>}`
  : K
/** A key as a segment of a path. */
export type Escaped<K extends string> = EscapeSlash<EscapeTilde<K>>

/** The keys of an object that are strings. */
export type Names<T> = keyof T & string

/** The elements of a response that is an array; any other response itself. */
export type RootElement<T> = T extends readonly (infer Element)[] ? Element : T

/** A pair of a column and the type of its cells; `undefined` if some rows don't have the column. */
type Cells<V, Path extends string, Left extends unknown[]> = Left extends [unknown, ...infer Rest]
  ? unknown extends V
    ? [Path | `${Path}/${string}`, Cell | undefined]
    : OwnCell<V, Path> | MemberCells<Members<V>, `${Path}/`, Rest, IsMixed<V>>
  : never

type OwnCell<V, Path extends string> = [Extract<V, Exclude<Scalar, undefined>>] extends [never]
  ? never
  : [Path, Extract<V, Scalar> | IsMixed<V>]

/** `undefined` if a value may be an object, and may be something else. */
type IsMixed<V> = [Exclude<V, Scalar>] extends [never]
  ? never
  : [Extract<V, Scalar>] extends [never]
    ? Members<V> extends Exclude<V, Scalar>
      ? Exclude<V, Scalar> extends Members<V>
        ? never
        : undefined
      : undefined
    : undefined

/** The objects that a value may be, without arrays. */
type Members<V> = V extends Scalar | readonly unknown[] ? never : V

/** The columns of an object that may be one of several: a member that not all have may be absent. */
type MemberCells<
  O,
  Prefix extends string,
  Left extends unknown[],
  Maybe,
  All = O,
> = O extends object
  ? {
      [K in Names<O>]-?: WithMaybe<
        Cells<O[K], `${Prefix}${Escaped<K>}`, Left>,
        Maybe | (K extends keyof All ? never : undefined)
      >
    }[Names<O>]
  : never

type WithMaybe<Pair, Maybe> = Pair extends [infer Path, infer V] ? [Path, V | Maybe] : never

/** The columns of the rows of an element with their types. */
export type ColumnsOf<Element> = unknown extends Element
  ? AnyColumns
  : ColumnRecord<
      OwnCell<Element, 'value'> | MemberCells<Members<Element>, '', Levels, IsMixed<Element>>
    >

// Its argument has no constraint, because checking one would follow the types of every response.
type ColumnRecord<Pairs> = {
  readonly [Pair in Pairs as FirstOf<Pair>]: Pair extends [unknown, infer V] ? V : never
}

type FirstOf<Pair> = Pair extends [infer Path extends string, unknown] ? Path : never

/** A pair of the path of a table and the type of its elements. */
type TablePairs<V, Prefix extends string, Left extends unknown[]> = Left extends [
  unknown,
  ...infer Rest,
]
  ? V extends readonly (infer Element)[]
    ? [`${Prefix}value`, Element] | TablePairs<Element, `${Prefix}value/`, Rest>
    : MemberTables<Members<V>, Prefix, Rest>
  : never

type MemberTables<O, Prefix extends string, Left extends unknown[]> = O extends object
  ? { [K in Names<O>]-?: TablesAt<O[K], `${Prefix}${Escaped<K>}`, Left> }[Names<O>]
  : never

type TablesAt<V, Path extends string, Left extends unknown[]> = unknown extends V
  ? [Path | `${Path}/${string}`, unknown]
  : V extends readonly (infer Element)[]
    ? [Path, Element] | TablePairs<Element, `${Path}/`, Left>
    : DictionaryTable<Members<V>, Path> | TablePairs<Members<V>, `${Path}/`, Left>

/** An object with any keys may be read as a dictionary (`entries`). */
type DictionaryTable<O, Path extends string> = O extends object
  ? string extends keyof O
    ? [Path, O[keyof O]]
    : never
  : never

type Pairs<T> = TablePairs<RootElement<T>, '', Levels>

/** The paths of the tables below the root of a response. */
export type TablePath<T> = unknown extends T ? string : FirstOf<Pairs<T>>

/** The columns of a table of a response; `null` is the root. */
export type ColumnsAt<T, Path extends string | null> = Path extends null
  ? ColumnsOf<RootElement<T>>
  : unknown extends T
    ? AnyColumns
    : ColumnsOf<ElementAt<Pairs<T>, Path>>

type ElementAt<Pair, Path> = Pair extends [infer Own, infer Element]
  ? Path extends Own
    ? Element
    : never
  : never

/** The tables that contain a table, without the root. */
export type AncestorPath<T, Path extends string | null> = Path extends string
  ? unknown extends T
    ? string
    : { [Other in TablePath<T>]: Path extends `${Other}/${string}` ? Other : never }[TablePath<T>]
  : never

/** The nearest table that contains a table; `null` is the root, `never` above the root. */
export type ParentPath<T, Path extends string | null> = Path extends string
  ? Nearest<AncestorPath<T, Path>> extends infer Parent
    ? [Parent] extends [never]
      ? null
      : Parent & string
    : never
  : never

type Nearest<Paths extends string, All extends string = Paths> = Paths extends string
  ? [Extract<All, `${Paths}/${string}`>] extends [never]
    ? Paths
    : never
  : never

/** The tables below a table; `null` is the root. */
export type DescendantPath<T, Path extends string | null> = Path extends null
  ? TablePath<T>
  : Extract<TablePath<T>, `${Path}/${string}`>

/** One table of a response: its columns, the columns of the rows that contain its rows, and their tables. */
export interface TableShape {
  readonly columns: object
  readonly parent: object
  readonly ancestors: string
}

/**
 * The tables of a response. Generic functions take it as a type parameter of its own, so that the compiler
 * computes it for actual responses only, and does not follow the types of every possible response.
 */
export interface ResponseShape {
  readonly root: object
  readonly tables: Readonly<Record<string, TableShape>>
}

/** The shape of a response of type `T`. */
export interface ShapeOf<T> {
  readonly root: ColumnsAt<T, null>
  readonly tables: {
    readonly [Path in TablePath<T>]: {
      readonly columns: ColumnsAt<T, Path>
      readonly parent: ColumnsAt<T, ParentPath<T, Path>>
      readonly ancestors: AncestorPath<T, Path>
    }
  }
}

/** The columns of a table of a shape; `null` is the root. */
export type ColumnsIn<Shape extends ResponseShape, From> = From extends keyof Shape['tables']
  ? Shape['tables'][From]['columns']
  : Shape['root']

/** The columns of the rows that contain the rows of a table. */
export type ParentIn<Shape extends ResponseShape, From> = From extends keyof Shape['tables']
  ? Shape['tables'][From]['parent']
  : Shape['root']

/** The tables that contain a table. */
export type AncestorsIn<Shape extends ResponseShape, From> = From extends keyof Shape['tables']
  ? Shape['tables'][From]['ancestors']
  : never

/** The tables below a table; `null` is the root. */
export type DescendantsIn<Shape extends ResponseShape, From> = From extends string
  ? Extract<keyof Shape['tables'] & string, `${From}/${string}`>
  : keyof Shape['tables'] & string
