/** A column of a table. */
export interface Column {
  readonly name: string
  /** Its type as SQL writes it. */
  readonly declared: string
  /** The name of its type, or of that under its domain. */
  readonly base: string
  /** The modifier of the type: of a length, a precision or a scale. -1: none. */
  readonly modifier: number
  readonly notNull: boolean
  readonly hasDefault: boolean
  /** Whether the database computes it from other columns. */
  readonly isComputed: boolean
  /** The sequence that numbers it, quoted. */
  readonly sequence: string | undefined
  /** The name of its collation; undefined if its type has none. */
  readonly collation: string | undefined
  readonly isDeterministic: boolean
}

/** A column of an index. Of an expression, the name is null. */
export interface IndexColumn {
  readonly name: string | null
  readonly descending: boolean
}

/** An index that is used for every row. */
export interface Index {
  readonly columns: readonly IndexColumn[]
  /** Whether two rows with the same values are rejected at once. */
  readonly unique: boolean
}

/** A foreign key that is checked by each statement. */
export interface ForeignKey {
  readonly columns: readonly string[]
  /** The oid of the table that it refers to. */
  readonly target: string
  readonly targetColumns: readonly string[]
  /** What a delete of the referenced row does: `a` and `r` fail, `c` cascade, `n` set null. */
  readonly onDelete: string
}

/** A table or view. */
export interface Table {
  readonly oid: string
  readonly schema: string
  readonly name: string
  /** `r` a table, `p` a partitioned one, `v` a view, `m` a materialized view, `f` a foreign table. */
  readonly kind: string
  /** Returns a column by its name; without one, by its name in another case of ASCII letters. */
  find(name: string): Column | undefined
  readonly indexes: readonly Index[]
  readonly foreignKeys: readonly ForeignKey[]
  /** The columns of unique indexes and constraints by name. */
  readonly constraints: ReadonlyMap<string, readonly string[]>
}

/** The tables that collections name, as they were when they were read. */
export interface Tables {
  /** Returns a table by its name; without one, by its name in another case of ASCII letters. */
  find(name: string): Table | undefined
}

/** Returns a name with its ASCII letters in lower case. */
export function folded(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
