import type { OnDelete } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { Reference } from '../definition/published.ts'
import type { Column, Table, TableLookup } from './model.ts'

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
  /** Returns whether an index or a foreign key of so many columns can have a column. Default: it can. */
  canIndex?(column: Column, parts: number): boolean
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

/** The type that a column gets. */
export interface NewType {
  readonly field: PublishedField
  /** The type in SQL. */
  readonly declared: string
}

/** How a database writes its schema. */
export interface SchemaText {
  /** What follows CREATE INDEX, so that an index that exists is left as it is. Empty, or it ends with a space. */
  readonly ifMissing: string
  /** What follows the columns of a new table. Empty, or it starts with a space. */
  readonly tableOptions: string
  /** Returns whether a foreign key accepts all that a reference does. */
  isForeignKey(reference: Reference, identityOf: TableLookup['identityOf']): boolean
  /** Returns whether a new column with a declared type can refer to an existing column. Default: it can. */
  canRefer?(declared: string, target: Column): boolean
  /** What follows the type of a column that storage numbers. */
  readonly numbered: string
  /** Returns the order of a column of an index. */
  indexOrder(field: PublishedField, descending: boolean): string
  /** Returns what is wrong with the length of a name, such as `has 70 bytes, but PostgreSQL allows 63`. */
  nameMistake(name: string): string | undefined
  /** Returns the statements that number a column, above the numbers that it has. */
  numberColumn(table: Table, column: Column): readonly string[]
  /** Returns the statement that rejects null in a column. */
  rejectNull(table: Table, column: Column): string
  /** Returns a string literal, whatever the settings of the session are. */
  literal(text: string): string
  /** Where tables are looked for, such as `in the database`. */
  readonly place: string
}
