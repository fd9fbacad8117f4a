import { searchPrefix, type Column, type Index, type SearchEntry } from '../model.ts'
import { affinityOf } from './column-types.ts'
import { isBusy, readFailure } from '../../storage/sqlite/connection/failure.ts'
import {
  rowsOf,
  type Connection,
  type SqliteRow,
} from '../../storage/sqlite/connection/connection.ts'

/** A column of a table. */
export interface SqliteColumn extends Column {
  /** Its position in the primary key, from 1. 0: not part of it. */
  readonly keyPlace: number
  /** Whether it is a hidden column of a virtual table. */
  readonly isHidden: boolean
}

/** An index of a table. */
export interface SqliteIndex extends Index {
  readonly name: string
  /** Whether it has only some rows of the table. */
  readonly partial: boolean
  /** What created it: `c` CREATE INDEX, `u` UNIQUE, `pk` PRIMARY KEY. */
  readonly origin: string
  /** Whether every column has the collation BINARY. */
  readonly isBinary: boolean
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

/** The columns of tables and views by name, and why the columns of others can't be read. */
interface ReadableColumns {
  readonly columns: ReadonlyMap<string, readonly SqliteColumn[]>
  readonly failures: ReadonlyMap<string, string>
}

/** Returns the tables and triggers of search indexes. */
export function searchEntries(connection: Connection): readonly SearchEntry[] {
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

/**
 * Returns the columns of tables and views, in their order. Throws if one of these can't be read. A sort would double the
 * time: the columns of one table are read after those of another, because each read needs a name.
 */
export function columnsOf(
  connection: Connection,
  tables: readonly string[],
): ReadonlyMap<string, readonly SqliteColumn[]> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, x.name, x.type, x."notnull", x.pk, x.hidden, x.dflt_value
     FROM json_each(?) AS t, pragma_table_xinfo(t.value) AS x`,
    [JSON.stringify(tables)],
  )
  const columns = new Map<string, SqliteColumn[]>()
  for (const [table, name, declared, notNull, keyPlace, hidden, value] of rows) {
    const hasDefault = typeof value === 'string' && !/^\s*null\s*$/i.test(value)
    addTo(columns, String(table), {
      name: String(name),
      declared: String(declared),
      base: affinityOf(String(declared)),
      scale: undefined,
      notNull: notNull === 1,
      keyPlace: Number(keyPlace),
      // 1: a hidden column of a virtual table. 2 and 3: generated columns.
      isComputed: Number(hidden) > 1,
      isHidden: hidden === 1,
      hasDefault,
      default: hasDefault ? value : undefined,
      numberedBy: undefined,
      collation: undefined,
      isDeterministic: true,
    })
  }
  return columns
}

/** Returns the names of the columns of a primary key, in its order. */
export function keyColumns(columns: readonly SqliteColumn[]): readonly string[] {
  return columns
    .filter(({ keyPlace }) => keyPlace > 0)
    .toSorted((one, other) => one.keyPlace - other.keyPlace)
    .map(({ name }) => name)
}

/** Returns the indexes of tables, in the order in which they were created. */
export function indexesOf(
  connection: Connection,
  tables: readonly string[],
): ReadonlyMap<string, readonly SqliteIndex[]> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, i.name, i."unique", i.partial, i.origin, c.name, c."desc", c.coll
     FROM json_each(?) AS t, pragma_index_list(t.value) AS i, pragma_index_xinfo(i.name) AS c
     WHERE c."key" = 1 ORDER BY t.key, i.seq DESC, c.seqno`,
    [JSON.stringify(tables)],
  )
  const parts = new Map<string, SqliteRow[]>()
  for (const [table, name, ...part] of rows) addTo(parts, JSON.stringify([table, name]), part)
  const indexes = new Map<string, SqliteIndex[]>()
  for (const [id, columns] of parts) {
    const [table, name] = JSON.parse(id) as readonly [string, string]
    const [unique, partial, origin] = columns[0] as SqliteRow
    addTo(indexes, table, {
      name,
      columns: columns.map(([, , , column, descending]) => ({
        name: column === null ? null : String(column),
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
