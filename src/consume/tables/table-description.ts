/** A table of a response, as `describeTables` returns it. */
export interface TableDescription {
  /** The path that `from` of a rule names; null is the root. */
  readonly path: string | null
  /** How many rows it has; null if it is described by a schema. */
  readonly rows: number | null
  readonly columns: readonly ColumnDescription[]
}

/** A column of a table of a response. */
export interface ColumnDescription {
  readonly name: string
  /**
   * The types of its cells: `string`, `number`, `boolean`, `null`, and `object` or `array` for one that is empty. In a
   * schema, `any` is a type that it does not state, and `object` or `array` one whose members it does not state.
   */
  readonly types: readonly string[]
  /** Whether every row has the column. */
  readonly inEveryRow: boolean
}
