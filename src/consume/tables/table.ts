/** A value of a column. */
export type Cell = string | number | boolean | null

/** The cells of a row by column, when its columns are not known to the compiler. */
export type AnyColumns = Readonly<Record<string, Cell | undefined>>

/**
 * One object, or one element of an array, as a row. The cells are in `values`, so that members of the response named
 * `id`, `parent_id` or `index` do not collide with the members of the row.
 */
export interface TableRow<Columns = AnyColumns> {
  /** Unique in the whole response. Rows are numbered in document order. */
  readonly id: number
  /** The id of the row whose array or dictionary this row belongs to; null for a row of the root. */
  readonly parent_id: number | null
  /** The position in the array or dictionary, from 0. */
  readonly index: number
  /** The key of an entry of a dictionary; absent for an element of an array. */
  readonly key?: string
  /** The cells by column. A column that the response does not have here is absent. */
  readonly values: Columns
  /** Present if the element is not an object; its value has the column `value`. */
  readonly bare?: true
  /** Present if the element was sent without its array, see `arrays`. */
  readonly isSingle?: true
  /** Present if the row has the elements of several arrays, see `zip`. */
  readonly isZipped?: true
  /** The columns that are an empty object or array, which have neither cells nor rows. */
  readonly empty?: Readonly<Record<string, 'object' | 'array'>>
}

/** The rows of all arrays with the same path. */
export interface ResponseTable {
  /** The keys that lead to the array, each escaped as in RFC 6901, joined with `/`; null for the root. */
  readonly path: string | null
  /** Every column that at least one row has, empty objects and arrays included, in order of appearance. */
  readonly columns: ReadonlySet<string>
  /** The rows in document order. */
  readonly rows: readonly TableRow[]
}

/** A JSON response as tables. `unflatten` returns the response again. */
export interface ResponseTables {
  /** Whether the response is an array. Then each of its elements is a row of the root. */
  readonly isList: boolean
  /** Present if the response is a dictionary, see `entries`. Then each of its entries is a row of the root. */
  readonly isDictionary?: true
  /** The response itself, as one row, or one row for each element. */
  readonly root: ResponseTable
  /** The tables below the root by path. */
  readonly tables: ReadonlyMap<string, ResponseTable>
}

/** Returns the table with a path, if the response has it; null is the root. */
export function tableAt(tables: ResponseTables, path: string | null): ResponseTable | undefined {
  return path === null ? tables.root : tables.tables.get(path)
}

/** Returns all tables, the root first. */
export function allTables({ root, tables }: ResponseTables): readonly ResponseTable[] {
  return [root, ...tables.values()]
}
