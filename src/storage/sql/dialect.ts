import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Row } from '../adapter.ts'
import type { BoundStatement, Connection } from '../pool/connection.ts'
import type { Inputs, Slot, Sql } from './fragments.ts'
import type { Errors } from '../pool/failure.ts'
import type { DeclaredType, FoundTables, TableDialect } from '../../schema/database.ts'
import type { StatementTexts } from './shape.ts'
import type { Column, Table, TableNames } from '../../schema/model.ts'

/** How a database keeps the values of a field type. */
export interface ColumnType extends DeclaredType {
  /** Returns a parameter of the type. */
  parameter(slot: Slot, field: Field): Sql
  /** Returns the value of the text of a column. */
  read(text: string): StoredValue
  /** Returns the wire text of a column, which `$q` searches. */
  wire(column: Sql): Sql
  /** Whether the values are compared as text, code point by code point. */
  readonly isText?: boolean
  /** Returns the expression of the value. Default: the column. */
  value?(column: Sql): Sql
  /** Returns the expression whose text is read. Default: the value itself. */
  returned?(column: Sql): Sql
  /** Returns a term that an index on the column serves. Every row with the value, or with one of a list, meets it. */
  near?(column: Sql, slot: Slot, isList: boolean): Sql | undefined
}

/** A column in a statement. */
export interface PlacedColumn {
  /** The expression of its value. */
  readonly sql: Sql
  /** The column itself. */
  readonly stored: Sql
  readonly column: Column
  readonly isText: boolean
  /** An indexed column that has its values in the order of code points. Undefined: there is none, or it has them itself. */
  readonly inOrder?: { readonly name: string; readonly sql: Sql } | undefined
  /** Returns a parameter of its type. */
  parameter(slot: Slot): Sql
  /** Returns the text of a value of its type. */
  written(value: NonNullable<StoredValue>): string
  /** Returns a term that an index on the column serves, see {@link ColumnType}. */
  readonly near: ((slot: Slot, isList: boolean) => Sql | undefined) | undefined
}

/** The values of a list, when a statement is run. */
export type ListedValues = (inputs: Inputs) => readonly NonNullable<StoredValue>[]

/** The tables that collections name, as they were when they were read. */
export interface Tables extends FoundTables {
  readonly dialect: Dialect
  /** The statements that read and write them. */
  readonly texts: StatementTexts
  /** How the database compares their names. */
  readonly names: TableNames
}

/**
 * What one database answers differently from others: the types of columns, names, comparisons, searches, errors and
 * transactions. Everything else is written once, for all databases.
 */
export interface Dialect extends TableDialect {
  /** The function that creates the storage, for messages. */
  readonly storage: string
  readonly columnTypes: Readonly<Record<FieldTypeName, ColumnType>>
  kept(column: Column, field: PublishedField): ColumnType | undefined
  readonly writes: Writes
  readonly terms: Terms
  /**
   * Returns one statement that reads the rows of several, which have the same text (one `sql` object) and other values. Each of its rows begins
   * with the index of its statement among them. The rows of a statement stay in their order.
   */
  joined(statements: readonly BoundStatement[]): BoundStatement
  /**
   * Returns the text of a value of a column, as a row has it, so that rows of different tables can be one list. Absent if the
   * database has no subqueries in FROM that refer to the rows before.
   */
  textOf?(value: Sql, column: Column): Sql
  /**
   * Limits that are part of the text of pages with conditions, as a statement may be planned once for any values. Absent if
   * it is planned for the values of each run.
   */
  readonly knownLimits?: ReadonlySet<number>
  /** How many statements may be {@link joined} at most. */
  readonly maxJoined: number
  readonly search: SearchTerms
  /** How searches are indexed. Absent: a search reads the table. */
  readonly searchIndex?: SearchIndexes
  readonly transactions: Transactions
  /** How rows are inspected. Absent: they are read page by page. */
  readonly inspection?: Inspection
  /** How indexes have the order of pages. Absent: every index of a column has it. */
  readonly orders?: Orders
  /** Absent if the database does not estimate how many rows a statement reads. */
  readonly estimates?: Estimates
  readonly errors: Errors
}

/** How a database writes rows. */
export interface Writes {
  /** Returns the statement that inserts rows, up to RETURNING. Several rows have at least one column. */
  insert(table: Sql, columns: readonly Sql[], rows: readonly (readonly Sql[])[]): Sql
  /**
   * Returns whether one statement may write the rows of several transactions to a table: it writes all or none, and returns
   * those that it inserts in their order.
   */
  joins(table: Table): boolean
  /**
   * Returns an insert of several rows with its RETURNING. It fails if the server may not have inserted and returned each
   * row as it is, for instance because of a trigger that is new since the start. Default: the server does.
   */
  joined?(insert: Sql, joined: JoinedInsert): Sql
  /** Returns one statement for updates of different rows. Rows that it returns begin with the index of their update. */
  joinedUpdates(updates: JoinedUpdates): BoundStatement
  /** The writes that return their rows. The rows of others are read by a statement of their own. */
  readonly returning: readonly ('insert' | 'update' | 'delete')[]
  /** The number that the last insert has generated. Required if inserts return no rows. */
  readonly lastNumber?: Sql
  /** Returns whether a column would keep another value than this one, without an error. Default: none would. */
  changes?(column: Column, value: StoredValue): boolean
}

/** A statement that inserts the rows of several transactions. */
export interface JoinedInsert {
  readonly found: Table
  /** What it returns of each row. */
  readonly values: readonly Sql[]
  /** The number of rows. */
  readonly count: number
}

/** The clauses of a statement that changes a row. */
export interface UpdateClauses {
  /** The table, with its alias. */
  readonly table: Sql
  /** The columns that it changes, and their new values. */
  readonly changes: readonly { readonly column: Sql; readonly value: Sql }[]
  /** The terms of the conditions. */
  readonly terms: readonly Sql[]
  /** Those of them that name the row by its key. */
  readonly key: readonly Sql[]
  /** What follows RETURNING: the row complete. */
  readonly returned: Sql
}

/** Updates whose statements have the same text, and what each of them binds. */
export interface JoinedUpdates {
  readonly statements: readonly BoundStatement[]
  readonly inputs: readonly Inputs[]
  clauses(): UpdateClauses
}

/** A column with the type of its field. */
export interface TypedColumn {
  readonly type: FieldTypeName
  readonly column: Column
  /** The expression of its value. */
  readonly sql: Sql
}

/** How a database compares and orders. */
export interface Terms {
  /** Returns a column as it is compared and ordered: text by code point. */
  ordered(column: PlacedColumn): Sql
  /**
   * Returns what ends an order by all sortable columns so that it distinguishes any two rows that differ in a column.
   * Empty: nothing has to.
   */
  undistinguished(columns: readonly TypedColumn[]): readonly Sql[]
  /** Returns the direction of an order in which null comes first. Empty, or it starts with a space. */
  direction(column: Column, descending: boolean): string
  /**
   * Returns the direction of an order of values other than null, in which an index without the nulls of pages is read.
   * Empty, or it starts with a space. Absent: each index has its nulls in the order of pages.
   */
  directionOfPresent?(descending: boolean): string
  /** Whether an order is a sort of all rows if an index has its first column only. Default false. */
  readonly sortsWhole?: boolean
  /** Returns the term that a column has exactly this value. */
  equal(column: PlacedColumn, slot: Slot): Sql
  /** Returns the term that two columns have exactly the same value. */
  same(column: PlacedColumn, other: PlacedColumn): Sql
  /** Returns the number of parameters of a list. */
  listSlots(length: number): number
  /** Returns the term that a column has one of the values. `length` is their number. */
  isIn(column: PlacedColumn, values: ListedValues, length: number): Sql
  /** Returns the term that a string contains another one. */
  contains(column: PlacedColumn, text: Slot): Sql
  /** Returns the term that a string starts with another one. */
  startsWith(column: PlacedColumn, text: (change?: (text: string) => string | null) => Slot): Sql
}

/** How a database searches. */
export interface SearchTerms {
  /** Returns a code point as a regular expression writes it. */
  escaped(character: string): string
  /** Returns the term that a string contains an ASCII needle without i and k. */
  plain?(text: Sql, needle: Slot): Sql
  /** Returns the term that a string matches a regular expression. */
  matches(text: Sql, pattern: Slot): Sql
}

/** How a database indexes searches. */
export interface SearchIndexes {
  /** Returns whether an index can have the wire text of a field. `column` is undefined if it will be created. */
  hasText(field: PublishedField, column: Column | undefined): boolean
  /** The number of texts that one index can have. */
  readonly maxTexts: number
  /** The name of the kind of index. */
  readonly method: string
  /** Returns the term of a column in the statement that creates an index. */
  term(text: string, tables: FoundTables): string
  /** Returns the statements that must run before an index can be created. */
  before(tables: FoundTables): readonly string[]
  /** Returns the term that a string matches a regular expression, which an index serves. */
  matches(text: Sql, pattern: Slot): Sql
}

/** How a database finds stored values that can't be published. */
export interface Inspection {
  /** Returns the term that a value other than null is not one of its field. Undefined: the column allows no other. */
  misfits(value: Sql, column: Column, field: Field): Sql | undefined
  /** Returns the term that a value may not be one of its field, which only its text shows. Undefined: none may. */
  doubtful(value: Sql, field: Field): Sql | undefined
  /** Returns the conditions of parts of a table, which are read one after another. Empty: it is read at once. */
  parts(connection: Connection, rows: InspectedRows): Promise<readonly Sql[]>
}

/** The rows of a table that are inspected. */
export interface InspectedRows {
  readonly table: Table
  /** What follows FROM. */
  readonly from: Sql
  /** Their number. */
  readonly rows: number
  /** Returns a column by its name. */
  column(name: string): Sql
}

/** How far concurrent transactions are kept apart. */
export type Isolation = 'snapshot' | 'serializable'

/** How a database runs transactions. */
export interface Transactions {
  /**
   * Begin a transaction that sees one state, and that fails if another one has changed what it writes; `serializable`:
   * it also fails if another one has changed what it has read.
   */
  readonly begin: Readonly<Record<Isolation, readonly string[]>>
  /** Whether a failed statement ends the transaction, unless it is undone to a savepoint. */
  readonly needsSavepoints: boolean
  /** Checks the constraints that are deferred to the commit. Absent: the database has none. */
  readonly checkDeferred?: string
  /** What follows a query whose rows are locked, so that no other transaction writes them. */
  readonly lock: Sql
  /** Commits. Rejects if the server has undone the transaction instead. */
  commit(connection: Connection): Promise<void>
  /** Runs after the insert of a row that brings its own number, with the row as it was given. */
  afterInsert?(
    connection: Connection,
    tables: Tables,
    collection: PublishedCollection,
    row: Row,
  ): Promise<void>
}

/** How indexes have the order of pages. */
export interface Orders {
  /**
   * Returns the indexes that orders lack, one for each of them: the statements of one may need those before. Undefined:
   * the order has one, or no statement is known that creates one.
   */
  lacking(
    table: Table,
    orders: readonly (readonly OrderColumn[])[],
  ): readonly (LackingIndex | undefined)[]
}

/** A column of an order, and its direction. */
export interface OrderColumn extends PlacedColumn {
  readonly descending: boolean
}

/** An index that an order lacks. */
export interface LackingIndex {
  /** The statements that create it. Empty: the values are too long for an index. */
  readonly statements: readonly string[]
}

/** How a database estimates how many rows meet conditions. */
export interface Estimates {
  /** What precedes a statement whose plan is requested in JSON. */
  readonly explain: string
  /** Returns the number of rows of the plan of a statement; undefined if it has none. */
  rows(plan: unknown): number | undefined
}
