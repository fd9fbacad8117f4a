import type { Field, FieldTypeName, OnDelete } from '../definition/field.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { Slot, Sql } from '../storage/sql/fragments.ts'
import type { Difference } from './differences.ts'
import type { Column, SearchEntry, Table, TableLookup } from './model.ts'
import type { WantedIndex } from './wanted-indexes.ts'

/** How a new column of a field type is declared. */
export interface DeclaredType {
  /**
   * Returns the type of a new column. `parts`: the number of columns in the longest key or index that it is part
   * of; 0 if there is none.
   */
  declared(field: Field, parts: number): string
  /** Returns the text of a value of a parameter. Default: `String(value)`. */
  write?(value: NonNullable<StoredValue>): string
  /** Returns a parameter of the type. */
  parameter?(slot: Slot, field: Field): Sql
  /** Returns what a save assigns; `column` is the stored value of an update. Default: the parameter. */
  assigned?(parameter: Sql, column: Sql | undefined): Sql
}

/** What a database answers differently about its tables. Their comparison and changes are written once. */
export interface TableDialect {
  /** The name of the database, for messages. */
  readonly database: string
  /** How new columns are declared. */
  readonly columnTypes: Readonly<Record<FieldTypeName, DeclaredType>>
  /** Returns how an existing column keeps the values of a field. Undefined: not exactly. */
  kept(column: Column, field: PublishedField): DeclaredType | undefined
  /** Returns what a field needs so that the column keeps its values, such as a `storedAs`. */
  advice?(column: Column, field: PublishedField): string | undefined
  /** Returns a name in quotes. */
  quoted(name: string): string
  /** Which writes return their rows. Default: all. */
  readonly writes?: { readonly returning: readonly string[] }
  readonly schema: SchemaText
}

/** The tables that collections name, as they were when they were read. */
export interface FoundTables extends TableLookup {
  readonly dialect: TableDialect
  /** The operator class of search indexes with its schema; undefined if it has to be installed. Only of PostgreSQL. */
  readonly searchOperators?: string | undefined
  /** Returns the tables and triggers of search indexes. Only of SQLite. */
  searches?(): readonly SearchEntry[]
  /** Returns the fields of a collection whose columns are declared as those of new tables. Only of SQLite. */
  written?(collection: PublishedCollection): ReadonlySet<PublishedField>
}

/** A table that exists, and the collection that it is compared with. */
export interface Compared {
  readonly tables: FoundTables
  readonly table: Table
  readonly collection: PublishedCollection
  /** All collections of the storage. */
  readonly collections: readonly PublishedCollection[]
}

/** Looks for one kind of difference. */
export type TableCheck = (compared: Compared) => readonly Difference[]

/** How a database indexes the searches of collections that share a table. */
export interface SearchText {
  /** Returns whether the table can have an index, if it exists. */
  isPossible(tables: FoundTables, sharing: readonly PublishedCollection[]): boolean
  /** What is wrong with a table that can't, as the end of a sentence. */
  readonly impossible: string
  /** Returns the statements that create the index in place of others. Empty: it exists, or none is declared. */
  missing(tables: FoundTables, sharing: readonly PublishedCollection[]): readonly string[]
  /** Returns what is wrong with a table that lacks its index, as the end of a sentence. */
  lacking(statements: readonly string[]): string
  /** Returns the statements that drop the indexes of a table. Empty: it has none. */
  drop(tables: FoundTables, table: string): readonly string[]
  /** Returns the names of the indexes that are declared. */
  names?(tables: FoundTables, sharing: readonly PublishedCollection[]): readonly string[]
}

/** How a database changes its tables. */
export interface SchemaChangeText {
  /** Returns what the catalogue says of a column that is declared with a type of `columnTypes`. */
  described(
    declared: string,
  ): Pick<Column, 'base' | 'scale' | 'length' | 'precision' | 'collation' | 'isDeterministic'>
  /**
   * Returns the statements that give a column the type of a field, with the same values. They fail if a value is too
   * long. Undefined: not every value would be the same.
   */
  redeclare(table: Table, column: Column, to: NewType): readonly string[] | undefined
  /** Returns whether a column with a unique index can be the target of a foreign key. Default: it can. */
  canRefer?(column: Column, target: Column, onDelete: OnDelete): boolean
  /** Returns the statement that allows null in a column. */
  allowNull(table: Table, column: Column): string
  /** Returns the statement that drops a foreign key. */
  dropForeignKey(table: Table, name: string): string
  /** Returns the statement that drops a column with its indexes and foreign keys. Default: DROP COLUMN alone. */
  dropColumn?(table: Table, column: string): string
  /** Whether all changes are made in one transaction. Otherwise those before one that fails stay. */
  readonly isTransactional: boolean
}

/** How a database changes its tables by copying them. */
export interface TableCopies {
  /** Returns the columns of a table that do not keep their fields, and the statements that redeclare them. */
  redeclare(
    table: Table,
    sharing: readonly PublishedCollection[],
  ): { readonly columns: readonly string[]; readonly statements: readonly string[] } | undefined
  /** Returns whether a column rejects null because a definition did, and not another program. */
  isOwnNotNull(table: Table, fields: readonly PublishedField[]): boolean
  /** Returns the statements that let columns reject or allow null. Undefined: their declarations do not show how. */
  changeNulls(
    table: Table,
    sharing: readonly PublishedCollection[],
    change: { readonly columns: readonly string[]; readonly rejectsNull: boolean },
  ): readonly string[] | undefined
  /** Returns the statements that drop a column. */
  dropColumn(table: Table, column: string): readonly string[]
}

/** What changes of the schema need: `changes` of single columns, or `copies` of tables. */
export interface ChangingDialect extends TableDialect {
  readonly changes?: SchemaChangeText
  readonly copies?: TableCopies
}

/** A dialect that changes single columns. */
export interface AlteringDialect extends ChangingDialect {
  readonly changes: SchemaChangeText
}

/** The type that a column gets. */
export interface NewType {
  readonly field: PublishedField
  /** The type in SQL. */
  readonly declared: string
}

/** How a database writes its schema. */
export interface SchemaText {
  /** The checks of an existing table, in the order of their messages. Default: all that a database behind a pool needs. */
  readonly checks?: readonly TableCheck[]
  /** Absent: searches have no indexes. */
  readonly search?: SearchText
  /** Returns what follows the definition of a column, such as ` CHECK (...)`. Default: nothing. */
  check?(field: PublishedField): string
  /**
   * Whether the names of tables that differ in case mean the same one, and statements have the names of the definition.
   * Default false: they have the names of the tables.
   */
  readonly ignoresCase?: boolean
  /** Returns the SQL of a value in the column of a field. Default: its parameter with the value as a literal. */
  value?(field: PublishedField, value: NonNullable<StoredValue>): string
  /** Returns whether an index or a foreign key of so many columns can have a column. Default: it can. */
  canIndex?(column: Column, parts: number): boolean
  /** Returns the statement that creates an index on the starts of values. Absent: an index can have any column. */
  prefixIndex?(table: string, columns: readonly Column[]): string
  /** Returns the name of a new index. Default: a short one with a digest. */
  indexName?(wanted: WantedIndex): string
  /** Returns the constraint of a reference in a new table. Absent: a statement adds the foreign key afterwards. */
  foreignKey?(reference: Reference): string
  /** Whether a foreign key compares with the collation of the column to which it refers. Default: with both. */
  readonly comparesAsTarget?: boolean
  /** Returns why a column does not keep the values of a field, as the end of a sentence. Has a default. */
  unfit?(column: Column, field: PublishedField): string
  /** How to give a column a default, with the definition of a new one. Has a default. */
  setDefault?(definition: string): string
  /** What a view is, after `is a view, which`. */
  readonly viewText: string
  /** What follows CREATE INDEX, so that an index that exists is left as it is. Empty, or it ends with a space. */
  readonly ifMissing: string
  /** What follows the columns of a new table. Empty, or it starts with a space. */
  readonly tableOptions: string
  /** Returns whether a foreign key accepts all that a reference does. */
  isForeignKey(reference: Reference, identityOf: TableLookup['identityOf']): boolean
  /** Returns whether a new column with a declared type can refer to an existing column. Default: it can. */
  canRefer?(declared: string, target: Column): boolean
  /** What follows the type of a column that storage numbers. Empty, or it starts with a space. */
  readonly numbered: string
  /** Returns the order of a column of an index. */
  indexOrder(field: PublishedField, descending: boolean): string
  /** Returns what is wrong with the length of a name, such as `has 70 bytes, but PostgreSQL allows 63`. */
  nameMistake(name: string): string | undefined
  /** Returns the statements that number a column, above the numbers that it has. Absent: only new columns are. */
  numberColumn?(table: Table, column: Column): readonly string[]
  /** How a column is numbered, as the start of a sentence, if there are no such statements. */
  readonly numberAdvice?: string
  /** Returns the statement that rejects null in a column. Absent: only new columns do. */
  rejectNull?(table: Table, column: Column): string
  /** Returns a string literal, whatever the settings of the session are. */
  literal(text: string): string
  /** Where tables are looked for, such as ` in the database`. Empty, or it starts with a space. */
  readonly place: string
}
