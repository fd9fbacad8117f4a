import type { OnDelete } from '../definition/field.ts'
import type { PublishedCollection } from '../definition/published.ts'

/** A column of a table. */
export interface Column {
  readonly name: string
  /** Its type as SQL writes it. */
  readonly declared: string
  /** The name of its type, or of that under its domain. */
  readonly base: string
  /** The digits after the point of a number or of seconds; undefined if the type does not limit them. */
  readonly scale: number | undefined
  /** The longest text that it keeps, in the unit of its type. Undefined: not known. */
  readonly length?: number | undefined
  /** The digits of a number in all; undefined if the type does not limit them. */
  readonly precision?: number | undefined
  /** The values of an enumeration, in their order; undefined for another type. */
  readonly labels?: readonly string[] | undefined
  /** The type in SQL, or that under its domain, with its schema. */
  readonly type?: string | undefined
  /** Its default in SQL, if statements repeat it. */
  readonly default?: string | undefined
  /** What follows in its declaration, if statements repeat it, such as a comment. Empty, or it starts with a space. */
  readonly ending?: string | undefined
  readonly notNull: boolean
  /** Whether an index has its nulls in the order of pages: it was created while the column allowed null. Default false. */
  readonly hasNullOrder?: boolean
  readonly hasDefault: boolean
  /** Whether the database computes it from other columns. */
  readonly isComputed: boolean
  /** The name of the text column whose values it has, but in the order of code points. Only of MariaDB and MySQL. */
  readonly orders?: string | undefined
  /** Whether a change of its value is rejected: GENERATED ALWAYS AS IDENTITY. Default false. */
  readonly isFixed?: boolean
  /** Whether the role of the connection may give it a value in an insert, as far as it is known. Default true. */
  readonly isInsertable?: boolean
  /** Whether the role of the connection may change it, as far as it is known. Default true. */
  readonly isUpdatable?: boolean
  /** What numbers it, such as the quoted name of a sequence; undefined: nothing. */
  readonly numberedBy: string | undefined
  /** The name of its collation; undefined if its type has none. */
  readonly collation: string | undefined
  /** Whether its collation distinguishes any two strings. */
  readonly isDeterministic: boolean
  /** Whether its collation is known to order by code point. Default false. Only of PostgreSQL. */
  readonly isInOrder?: boolean
  /** Whether its type is a domain, which may have conditions of its own. Default false. */
  readonly isDomain?: boolean
  /** Whether a constraint or another column reads it, for which another type may be another value. Default false. */
  readonly hasConditions?: boolean
  /** Whether something depends on it, such as a view, so that it can't be dropped. Default false. */
  readonly isUsed?: boolean
}

/** A column of an index. Of an expression or of a prefix, the name is null. */
export interface IndexColumn {
  readonly name: string | null
  /** The column of a prefix, if statements need it. */
  readonly prefixOf?: string | undefined
  readonly descending: boolean
  /** Whether its nulls are in the order of pages. Absent if the database has them nowhere else. */
  readonly hasNullOrder?: boolean
  /** The name of the collation that orders it, if it may differ from that of the column. Null: it has none. */
  readonly collation?: string | null
}

/** An index that is used for every row. */
export interface Index {
  /** Its name, if statements need it. */
  readonly name?: string
  readonly columns: readonly IndexColumn[]
  /** Whether two rows with the same values are rejected at once. */
  readonly unique: boolean
}

/** A foreign key that is checked by each statement. */
export interface ForeignKey {
  readonly name: string
  readonly columns: readonly string[]
  /** The id of the table that it refers to. */
  readonly target: string
  readonly targetColumns: readonly string[]
  /** What a delete of the referenced row does. Undefined: nothing that a definition can say. */
  readonly onDelete: OnDelete | undefined
}

/** What the names of search indexes begin with. */
export const searchPrefix = 'rowgate_search_'

/** A table or view. */
export interface Table {
  /** Identifies it in the database. */
  readonly id: string
  readonly schema: string
  readonly name: string
  /** `other`: a table that is not kept here, such as a foreign one. */
  readonly kind: 'table' | 'view' | 'other'
  /** Why its columns can't be read, for example because a view names a table that does not exist. Only of SQLite. */
  readonly failure?: string | undefined
  /** The CREATE statement. Only of SQLite. */
  readonly statement?: string
  /** Whether its columns reject values of other types. Only of SQLite. */
  readonly strict?: boolean
  /** Whether its rows have no numbers. Only of SQLite. */
  readonly withoutRowId?: boolean
  /** Why its rows are not written, as the end of a sentence. Undefined: they are. */
  readonly unwritable?: string | undefined
  /** The statement after which they are written. */
  readonly makeWritable?: string | undefined
  /** About how many rows it has. Undefined: not known. */
  readonly rows?: number | undefined
  /** Whether a write runs code of the table or of its partitions, such as triggers. Undefined: not known. */
  readonly runsCode?: boolean
  /** Whether policies of the server decide which rows its role reads and writes. Default false. */
  readonly hasPolicies?: boolean
  /** Whether the server returns inserted rows to the role of the connection, if it returns any. Default true. */
  readonly returnsInserts?: boolean
  readonly columns: readonly Column[]
  /** Returns a column by its name; without one, by its name in another case of ASCII letters. */
  find(name: string): Column | undefined
  /**
   * Columns whose values together no two rows have. They may be ones that only the database has, such as the place of
   * a row. Undefined: none are known.
   */
  readonly identity?: readonly string[] | undefined
  /** The columns of the primary key. Undefined: it has none. */
  readonly primary?: readonly string[] | undefined
  /** Whether its primary key is not among `indexes`. Default false. */
  readonly hasOwnKey?: boolean
  readonly indexes: readonly Index[]
  readonly foreignKeys: readonly ForeignKey[]
  /** The names of the search indexes that storage has created. Default: none. */
  readonly searchIndexes?: readonly string[]
  /** The constraints that an interrupted change of the schema has left, by name. Default: none. */
  readonly leftConstraints?: readonly string[]
  /** Whether it has constraints that are checked by the commit. Default false. */
  readonly hasDeferred?: boolean
  /** The columns of indexes and constraints by name. An empty name: one that is not known. */
  readonly constraints: ReadonlyMap<string, readonly string[]>
  /** The columns of all indexes, if an error may not name the index. Default: none. */
  readonly indexed?: readonly string[]
  /** Its partitions, if errors name them and their constraints. Default: none. */
  readonly partitions?: readonly Pick<Table, 'schema' | 'name' | 'constraints'>[]
}

/** Returns whether an index has a column, or a prefix of it. */
export function hasColumn({ columns }: Index, column: string): boolean {
  return columns.some(({ name, prefixOf }) => name === column || prefixOf === column)
}

/**
 * Returns a function that finds by name; without one, by the name in another case of ASCII letters, if only one has such
 * a name.
 */
export function finder<Named extends { readonly name: string }>(
  list: readonly Named[],
): (name: string) => Named | undefined {
  const exact = new Map(list.map((one) => [one.name, one]))
  let inAnyCase: ReadonlyMap<string, Named | undefined> | undefined
  return (name) => exact.get(name) ?? (inAnyCase ??= byFoldedName(list)).get(folded(name))
}

function byFoldedName<Named extends { readonly name: string }>(
  list: readonly Named[],
): ReadonlyMap<string, Named | undefined> {
  const found = new Map<string, Named | undefined>()
  for (const one of list) {
    const name = folded(one.name)
    found.set(name, found.has(name) ? undefined : one)
  }
  return found
}

/** Returns a name with its ASCII letters in lower case, as SQLite compares names. */
export function folded(name: string): string {
  return /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name
}

/** A table or trigger of a search index of SQLite. */
export interface SearchEntry {
  readonly name: string
  /** The table of a trigger; otherwise its own name. */
  readonly table: string
  /** The CREATE statement. */
  readonly statement: string
}

/** What the names of tables in a definition mean. */
export interface TableLookup {
  /** Returns the table that a name means. Undefined: it does not exist. */
  find(name: string): Table | undefined
  /** Returns the same string for names that mean the same table. */
  identityOf(name: string): string
}

/** How a database compares the names of tables: what names mean among the tables that exist. */
export type TableNames = (tables: readonly Table[]) => TableLookup

/** Names that differ in the case of ASCII letters only mean the same table. */
export const foldedNames: TableNames = (tables) => ({ find: finder(tables), identityOf: folded })

/**
 * Returns how names are compared if those that differ in case are different. A name without a table means the one whose
 * name differs in case only, unless another collection has exactly that name.
 */
export function exactNames(collections: readonly PublishedCollection[]): TableNames {
  const named = new Set(collections.map(({ table }) => table))
  return (tables) => {
    const exact = new Map(tables.map((one) => [one.name, one]))
    const inOtherCase = finder(tables.filter(({ name }) => !named.has(name)))
    const find = (name: string): Table | undefined => exact.get(name) ?? inOtherCase(name)
    return { find, identityOf: (name) => find(name)?.name ?? name }
  }
}

/** Returns collections in groups that share a table, by what identifies it. */
export function groupByTable(
  collections: readonly PublishedCollection[],
  identityOf: (table: string) => string,
): ReadonlyMap<string, readonly PublishedCollection[]> {
  const groups = new Map<string, readonly PublishedCollection[]>()
  for (const one of collections) {
    const table = identityOf(one.table)
    groups.set(table, [...(groups.get(table) ?? []), one])
  }
  return groups
}
