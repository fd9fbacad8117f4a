import type { FieldValues } from '../../definition/field.ts'
import type { CollectionShape, Item, RequiredName, ValueOf } from '../../definition/item.ts'
import type {
  AncestorsIn,
  ColumnsIn,
  DescendantsIn,
  ParentIn,
  ResponseShape,
} from '../tables/response-types.ts'
import type { CallerReader, CallerTypes } from './caller-reader.ts'

/** What the functions of a rule receive: a row of its table, and what the row is joined with. */
export interface RuleRow<
  Shape extends ResponseShape = ResponseShape,
  From = string | null,
  Row = unknown,
  Join = null,
> {
  /** The cells of the row by column. A column that the response does not have here is undefined. */
  readonly row: ColumnsIn<Shape, From>
  /** The cells of the row that contains this one; for a row of the root, its own cells. */
  readonly parent: ParentIn<Shape, From>
  /** The cells of the row of the root that contains this one. */
  readonly root: Shape['root']
  /** The position of the row in its array or dictionary, from 0. */
  readonly index: number
  /** The key of an entry of a dictionary; null for a row of an array. */
  readonly key: string | null
  /** Reads the row that the request was sent for. */
  readonly caller: CallerReader<Row>
  /** The cells of the row that `join` finds; null if there is none. */
  readonly joined: JoinedColumns<Shape, Join> | null
  /** Returns the cells of the rows of another table that are below this row. */
  below<Path extends DescendantsIn<Shape, From>>(table: Path): readonly ColumnsIn<Shape, Path>[]
}

/** The columns of the table that a rule joins. */
export type JoinedColumns<Shape extends ResponseShape, Join> = Join extends string
  ? ColumnsIn<Shape, Join>
  : never

/** How rows of a table that is not above or below are found: `included` of JSON:API. */
export interface RuleJoin<Shape extends ResponseShape, From, Join> {
  /** The table. */
  readonly table: Join
  /** The columns of the table whose cells must equal a column of the row, or a constant. */
  readonly on: Readonly<
    Partial<
      Record<
        keyof JoinedColumns<Shape, Join> & string,
        (keyof ColumnsIn<Shape, From> & string) | { readonly value: string | number | boolean }
      >
    >
  >
}

/** The columns whose values a field accepts. An absent or null cell is null in the field. */
type ColumnFor<Columns, Value> = string extends keyof Columns
  ? string
  : {
      [Column in keyof Columns & string]: Exclude<Columns[Column], null | undefined> extends Value
        ? Column
        : never
    }[keyof Columns & string]

/** A column of a table that contains the row. */
type AncestorColumn<Shape extends ResponseShape, From, Value> = {
  [Path in AncestorsIn<Shape, From>]: {
    readonly of: Path
    readonly column: ColumnFor<ColumnsIn<Shape, Path>, Value>
  }
}[AncestorsIn<Shape, From>]

type CallerSource<Row, Value> =
  | {
      readonly caller: unknown extends Row ? string : ColumnFor<Row, Value>
      readonly type?: undefined
    }
  | {
      readonly caller: string
      readonly type: {
        [Type in keyof CallerTypes]: CallerTypes[Type] extends Value ? Type : never
      }[keyof CallerTypes]
    }

/** Where the value of a field comes from. */
export type RuleSource<Value, Constant, Shape extends ResponseShape, From, Row, Join = null> =
  | ColumnFor<ColumnsIn<Shape, From>, Value>
  | { readonly parent: ColumnFor<ParentIn<Shape, From>, Value> }
  | { readonly root: ColumnFor<Shape['root'], Value> }
  | AncestorColumn<Shape, From, Value>
  | CallerSource<Row, Value>
  | { readonly value: Constant | null }
  | (string extends Value ? { readonly key: true } : never)
  | (Join extends string ? { readonly joined: ColumnFor<ColumnsIn<Shape, Join>, Value> } : never)
  | ((at: RuleRow<Shape, From, Row, Join>) => Value | null | undefined)

type SourceOf<
  C extends CollectionShape,
  Name extends string,
  Shape extends ResponseShape,
  From,
  Row,
  Join,
> = RuleSource<
  FieldValues[C['fields'][Name]['type']],
  ValueOf<C['fields'][Name]>,
  Shape,
  From,
  Row,
  Join
>

/** The sources of the fields of an item. Fields that an insert must contain are required. */
export type RuleSources<
  C extends CollectionShape,
  Shape extends ResponseShape,
  From,
  Row,
  Join = null,
> = {
  readonly [Name in RequiredName<C>]: SourceOf<C, Name, Shape, From, Row, Join>
} & {
  readonly [Name in Exclude<keyof C['fields'] & string, RequiredName<C>>]?: SourceOf<
    C,
    Name,
    Shape,
    From,
    Row,
    Join
  >
}

/**
 * The sources of a rule, of which `Sources` are the given ones. Each is compared with the sources of its own kind only, so
 * that the error of the compiler is short. A field that is not required may be undefined, as a condition leaves it.
 */
export type CheckedSources<
  Sources,
  C extends CollectionShape,
  Shape extends ResponseShape,
  From,
  Row,
  Join,
> = {
  readonly [Name in keyof Sources]: Name extends keyof C['fields'] & string
    ? | CheckedSource<
          Sources[Name],
          SourceOf<C, Name, Shape, From, Row, Join>,
          ColumnsIn<Shape, From>,
          Name
        >
      | (undefined extends Sources[Name] ? UnsetSource<C, Name> : never)
    : `${Name & string} is not a field of the collection`
} & Readonly<Record<RequiredName<C>, unknown>>

type UnsetSource<C extends CollectionShape, Name> = Name extends RequiredName<C> ? never : undefined

type CheckedSource<Given, Allowed, Columns, Name extends string> = Given extends string
  ? Given extends Allowed
    ? Given
    : Given extends keyof Columns
      ? `the column ${Given} does not have the type of the field ${Name}`
      : keyof Columns & string
  : OfKind<Given, Allowed>

/** The sources that have the members of the given one; all, if there are none. */
type OfKind<Given, Allowed> = [Extract<Allowed, Readonly<Record<keyof Given, unknown>>>] extends [
  never,
]
  ? Allowed
  : Extract<Allowed, Readonly<Record<keyof Given, unknown>>>

/** The row that a request was sent for: an item of a collection, or any. */
export type CallerRow<Of> = Of extends CollectionShape ? Item<Of> : unknown
