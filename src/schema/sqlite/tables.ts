import type { PublishedCollection } from '../../definition/published.ts'
import { folded, searchPrefix } from '../model.ts'
import { isBusy, readFailure } from '../../storage/sqlite/connection/failure.ts'
import {
  rowsOf,
  type Connection,
  type SqliteRow,
} from '../../storage/sqlite/connection/connection.ts'

/** A column of a table. */
export interface Column {
  readonly name: string
  readonly declared: string
  readonly notNull: boolean
  /** Its position in the primary key, from 1. 0: not part of it. */
  readonly keyPlace: number
  /** Whether SQLite computes it from other columns. */
  readonly computed: boolean
  /** Whether it is a hidden column of a virtual table. */
  readonly hidden: boolean
  /** The expression of its DEFAULT; undefined if it has none, or NULL. */
  readonly default: string | undefined
}

/** A column of an index. */
export interface IndexColumn {
  readonly name: string
  readonly descending: boolean
}

/** An index of a table, or its primary key. */
export interface Index {
  readonly columns: readonly IndexColumn[]
  readonly unique: boolean
  /** Whether it has only some rows of the table. */
  readonly partial: boolean
  /** What created it: `c` CREATE INDEX, `u` UNIQUE, `pk` PRIMARY KEY. */
  readonly origin: string
  /** Whether every column has the collation BINARY. */
  readonly isBinary: boolean
}

/** The name of a column of an index that is an expression. No column has it. */
export const expressionColumn = '\0'

/** A table or view of the database. */
export interface Table {
  readonly kind: string
  readonly strict: boolean
  /** The CREATE statement. */
  readonly statement: string
  readonly withoutRowId: boolean
  readonly columns: ReadonlyMap<string, Column>
  /** Why its columns can't be read, for example because a view names a table that does not exist. */
  readonly failure: string | undefined
  /** Returns whether columns, in lower case, are those of the primary key or of a unique index of every row. */
  isUnique(columns: readonly string[]): boolean
  /** Returns its indexes and its primary key. */
  indexes(): readonly Index[]
}

/** A table or trigger of a search index. */
export interface SearchEntry {
  readonly name: string
  /** The table of a trigger; otherwise its own name. */
  readonly table: string
  /** The CREATE statement. */
  readonly statement: string
}

/** The tables of a database that collections name, as they were when they were read. */
export interface Tables {
  /** Returns the tables and triggers of search indexes. */
  searches(): readonly SearchEntry[]
  /** Returns a table by its name, in any case of ASCII letters. */
  find(name: string): Table | undefined
}

/** A table, view or virtual table, as SQLite lists it. */
export interface ListedTable {
  readonly name: string
  readonly kind: string
  readonly withoutRowId: boolean
  readonly strict: boolean
  /** The CREATE statement; empty if there is none. */
  readonly statement: string
}

/** Returns what is wrong with the encoding of a database; undefined if it is UTF-8. */
export function encodingMistake(connection: Connection): string | undefined {
  const [[encoding] = []] = rowsOf(connection, 'PRAGMA encoding')
  if (encoding === 'UTF-8') return undefined
  return `the encoding of the database is ${String(encoding)}, whose strings SQLite does not order by code point. Copy it to a file with UTF-8: sqlite3 old.db .dump | sqlite3 new.db`
}

/** Lists the tables of a database by name, without the table that describes them. */
export function listTables(connection: Connection): readonly ListedTable[] {
  const rows = rowsOf(
    connection,
    `SELECT l.name, l.type, l.wr, l.strict, s.sql FROM pragma_table_list AS l
     LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
     WHERE l.schema = 'main' AND l.name <> 'sqlite_schema' ORDER BY l.name`,
  )
  return rows.map(([name, kind, withoutRowId, strict, statement]) => ({
    name: String(name),
    kind: String(kind),
    withoutRowId: withoutRowId === 1,
    strict: strict === 1,
    statement: typeof statement === 'string' ? statement : '',
  }))
}

/** Reads the tables of collections. The number of statements does not depend on the number of tables. */
export function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): Tables {
  const wanted = new Set(collections.map(({ table }) => folded(table)))
  const listed = listTables(connection).filter(({ name }) => wanted.has(folded(name)))
  const names = listed.map(({ name }) => name)
  const { columns, failures } = readableColumns(connection, names)
  // Most collections have the primary key as their key, so the indexes are seldom read.
  let indexes: ReturnType<typeof indexesOf> | undefined
  const tables = new Map(
    listed.map((each) => {
      const { name } = each
      const described = columns.get(name) ?? []
      const primary = keyColumns(described)
      const key: Index = {
        columns: primary.map((column) => ({ name: column, descending: false })),
        unique: true,
        partial: false,
        origin: 'pk',
        isBinary: true,
      }
      const all = function* (): Generator<Index> {
        if (primary.length > 0) yield key
        indexes ??= indexesOf(connection, names)
        yield* indexes.get(name) ?? []
      }
      const table: Table = {
        ...each,
        columns: new Map(described.map((column) => [folded(column.name), column])),
        failure: failures.get(name),
        isUnique: (own) => {
          for (const { columns: indexed, unique, partial } of all()) {
            if (!unique || partial || indexed.length !== own.length) continue
            if (indexed.every(({ name: column }) => own.includes(folded(column)))) return true
          }
          return false
        },
        indexes: () => [...all()],
      }
      return [folded(name), table]
    }),
  )
  let searches: readonly SearchEntry[] | undefined
  return {
    find: (name) => tables.get(folded(name)),
    searches: () => (searches ??= searchEntries(connection)),
  }
}

/** Reads the columns of tables and views together or, if one of them can't be read, each by itself. */
export function readableColumns(connection: Connection, names: readonly string[]): ReadableColumns {
  try {
    return { columns: columnsOf(connection, names), failures: new Map() }
  } catch (error) {
    // A lock of another process has nothing to do with the tables.
    if (isBusy(error)) throw error
    const [name = '', ...others] = names
    if (others.length === 0)
      return { columns: new Map(), failures: new Map([[name, readFailure(error)]]) }
    const each = names.map((one) => readableColumns(connection, [one]))
    return {
      columns: new Map(each.flatMap(({ columns }) => [...columns])),
      failures: new Map(each.flatMap(({ failures }) => [...failures])),
    }
  }
}

/** The columns of tables and views, and why those of others can't be read, by name. */
interface ReadableColumns {
  readonly columns: ReadonlyMap<string, readonly Column[]>
  readonly failures: ReadonlyMap<string, string>
}

function searchEntries(connection: Connection): readonly SearchEntry[] {
  const rows = rowsOf(
    connection,
    `SELECT name, tbl_name, sql FROM sqlite_schema
     WHERE type IN ('table', 'trigger') AND name LIKE '${searchPrefix.replaceAll('_', '\\_')}%' ESCAPE '\\'`,
  )
  return rows.map(([name, table, statement]) => ({
    name: String(name),
    table: String(table),
    statement: String(statement),
  }))
}

/** Returns the name of the number that SQLite gives each row. Undefined if there is none, or if columns hide it. */
export function rowIdOf({ kind, withoutRowId, columns }: Table): string | undefined {
  if (kind !== 'table' || withoutRowId) return undefined
  return ['rowid', '_rowid_', 'oid'].find((name) => !columns.has(name))
}

/** Returns columns whose values together no two rows have. Undefined if none are known. */
export function identityIn(table: Table): readonly string[] | undefined {
  const rowId = rowIdOf(table)
  if (rowId !== undefined) return [rowId]
  return table.withoutRowId ? keyColumns([...table.columns.values()]) : undefined
}

/** Returns the column that is the number of a row. Undefined if only SQLite knows it, or if there is none. */
export function rowNumberOf(table: Table): Column | undefined {
  const [column, ...others] = [...table.columns.values()].filter(({ keyPlace }) => keyPlace > 0)
  if (table.withoutRowId || others.length > 0) return undefined
  return column?.declared.toUpperCase() === 'INTEGER' ? column : undefined
}

/** Returns the columns of tables and views, in their order. Throws if one of these can't be read. */
export function columnsOf(
  connection: Connection,
  tables: readonly string[],
): ReadonlyMap<string, readonly Column[]> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, x.name, x.type, x."notnull", x.pk, x.hidden, x.dflt_value
     FROM json_each(?) AS t, pragma_table_xinfo(t.value) AS x ORDER BY t.key, x.cid`,
    [JSON.stringify(tables)],
  )
  const columns = new Map<string, Column[]>()
  for (const [table, name, declared, notNull, keyPlace, hidden, value] of rows) {
    addTo(columns, String(table), {
      name: String(name),
      declared: String(declared),
      notNull: notNull === 1,
      keyPlace: Number(keyPlace),
      // 1: a hidden column of a virtual table. 2 and 3: generated columns.
      computed: Number(hidden) > 1,
      hidden: hidden === 1,
      default: typeof value === 'string' && !/^\s*null\s*$/i.test(value) ? value : undefined,
    })
  }
  return columns
}

/** Returns the names of the columns of a primary key, in its order. */
export function keyColumns(columns: readonly Column[]): readonly string[] {
  return columns
    .filter(({ keyPlace }) => keyPlace > 0)
    .toSorted((one, other) => one.keyPlace - other.keyPlace)
    .map(({ name }) => name)
}

/** Returns the indexes of tables, in the order in which they were created. */
export function indexesOf(
  connection: Connection,
  tables: readonly string[],
): ReadonlyMap<string, readonly Index[]> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, i.seq, i."unique", i.partial, i.origin, c.name, c."desc", c.coll
     FROM json_each(?) AS t, pragma_index_list(t.value) AS i, pragma_index_xinfo(i.name) AS c
     WHERE c."key" = 1 ORDER BY t.key, i.seq DESC, c.seqno`,
    [JSON.stringify(tables)],
  )
  const parts = new Map<string, SqliteRow[]>()
  for (const [table, place, ...part] of rows) addTo(parts, JSON.stringify([table, place]), part)
  const indexes = new Map<string, Index[]>()
  for (const [id, columns] of parts) {
    const [table] = JSON.parse(id) as readonly [string]
    const [unique, partial, origin] = columns[0] as SqliteRow
    addTo(indexes, table, {
      columns: columns.map(([, , , name, descending]) => ({
        name: name === null ? expressionColumn : String(name),
        descending: descending === 1,
      })),
      unique: unique === 1,
      partial: partial === 1,
      origin: String(origin),
      isBinary: columns.every((part) => part.at(-1) === 'BINARY'),
    })
  }
  return indexes
}

/** Adds an item to one of several lists. */
export function addTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const known = lists.get(name)
  if (known === undefined) lists.set(name, [item])
  else known.push(item)
}
