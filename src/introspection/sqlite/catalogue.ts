import { rowsOf, type Connection, type SqliteRow } from '../../storage/sqlite/connection.ts'
import { folded } from '../../storage/sqlite/tables.ts'
import type { IndexedColumn, ReferenceDescription } from '../description.ts'

/** A table, view or virtual table of a SQLite database, as its catalogue describes it. */
export interface CatalogueTable {
  readonly name: string
  readonly kind: 'table' | 'view' | 'virtual' | 'shadow'
  readonly withoutRowId: boolean
  /** The CREATE statement. */
  readonly statement: string
  readonly columns: readonly CatalogueColumn[]
  readonly indexes: readonly CatalogueIndex[]
  readonly references: readonly ReferenceDescription[]
  /** Why its columns can't be read, for example because a view names a table that does not exist. */
  readonly failure?: string
}

/** A column. */
export interface CatalogueColumn {
  readonly name: string
  readonly declared: string
  readonly notNull: boolean
  /** The expression of its default. */
  readonly default?: string
  /** Its position in the primary key, from 1. 0: not part of it. */
  readonly keyPlace: number
  readonly computed: boolean
}

/** An index of all rows, on columns alone. */
export interface CatalogueIndex {
  readonly unique: boolean
  /** `pk`: of the primary key. */
  readonly origin: string
  readonly columns: readonly IndexedColumn[]
  /** Whether every column has the collation BINARY. */
  readonly isBinary: boolean
}

type Kind = CatalogueTable['kind']

/** Reads the tables of a database, by name. Tables are read together, others one by one, because reading one may fail. */
export function readCatalogue(connection: Connection): readonly CatalogueTable[] {
  const listed = rowsOf(
    connection,
    `SELECT l.name, l.type, l.wr, s.sql FROM pragma_table_list AS l
     LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
     WHERE l.schema = 'main' AND l.name <> 'sqlite_schema' ORDER BY l.name`,
  ).map(([name, kind, withoutRowId, statement]) => ({
    name: String(name),
    kind: kind as Kind,
    withoutRowId: withoutRowId === 1,
    statement: typeof statement === 'string' ? statement : '',
  }))
  const tables = listed.filter(({ kind }) => kind === 'table')
  const names = JSON.stringify(tables.map(({ name }) => name))
  const columns = grouped(columnRows(connection, names))
  const indexes = grouped(indexRows(connection, names))
  const foreign = grouped(foreignRows(connection, names))
  const keys = new Map(
    tables.map(({ name }) => [folded(name), keyOf((columns.get(name) ?? []).map(columnOf))]),
  )
  return listed.map((table) => {
    if (table.kind === 'table') {
      return {
        ...table,
        columns: (columns.get(table.name) ?? []).map(columnOf),
        indexes: indexesOf(indexes.get(table.name) ?? []),
        references: referencesOf(foreign.get(table.name) ?? [], keys),
      }
    }
    return { ...table, ...columnsAlone(connection, table.name), indexes: [], references: [] }
  })
}

function columnsAlone(
  connection: Connection,
  name: string,
): Pick<CatalogueTable, 'columns' | 'failure'> {
  try {
    const rows = columnRows(connection, JSON.stringify([name]))
    return { columns: rows.map(([, ...row]) => columnOf(row)) }
  } catch (error) {
    return { columns: [], failure: error instanceof Error ? error.message : String(error) }
  }
}

function columnRows(connection: Connection, names: string): readonly SqliteRow[] {
  return rowsOf(
    connection,
    // 1: a hidden column of a virtual table. 2 and 3: generated columns.
    `SELECT t.value, x.name, x.type, x."notnull", x.dflt_value, x.pk, x.hidden
     FROM json_each(?) AS t, pragma_table_xinfo(t.value) AS x WHERE x.hidden <> 1 ORDER BY t.key, x.cid`,
    [names],
  )
}

function columnOf([name, declared, notNull, value, keyPlace, hidden]: SqliteRow): CatalogueColumn {
  return {
    name: String(name),
    declared: String(declared),
    notNull: notNull === 1,
    ...(typeof value === 'string' && !/^\s*null\s*$/i.test(value) ? { default: value } : {}),
    keyPlace: Number(keyPlace),
    computed: hidden !== 0,
  }
}

function indexRows(connection: Connection, names: string): readonly SqliteRow[] {
  return rowsOf(
    connection,
    `SELECT t.value, i.name, i."unique", i.origin, x.name, x."desc", x.coll
     FROM json_each(?) AS t, pragma_index_list(t.value) AS i, pragma_index_xinfo(i.name) AS x
     WHERE i.partial = 0 AND x.key = 1 ORDER BY t.key, i.seq DESC, x.seqno`,
    [names],
  )
}

function indexesOf(rows: readonly SqliteRow[]): readonly CatalogueIndex[] {
  return [...grouped(rows).values()].flatMap((parts) => {
    const [unique, origin] = parts[0] ?? []
    // The name of an expression is null.
    if (parts.some(([, , name]) => name === null)) return []
    const columns = parts.map(([, , name, descending]) => ({
      name: String(name),
      descending: descending === 1,
    }))
    const isBinary = parts.every(([, , , , collation]) => collation === 'BINARY')
    return [{ unique: unique === 1, origin: String(origin), columns, isBinary }]
  })
}

function foreignRows(connection: Connection, names: string): readonly SqliteRow[] {
  return rowsOf(
    connection,
    `SELECT t.value, f.id, f."table", f."from", f."to", f.on_delete
     FROM json_each(?) AS t, pragma_foreign_key_list(t.value) AS f ORDER BY t.key, f.id DESC, f.seq`,
    [names],
  )
}

function referencesOf(
  rows: readonly SqliteRow[],
  keys: ReadonlyMap<string, readonly string[]>,
): readonly ReferenceDescription[] {
  return [...grouped(rows).values()].map((parts) => {
    const [table, , , action] = parts[0] ?? []
    const own = keys.get(folded(String(table))) ?? []
    return {
      table: String(table),
      columns: parts.map(([, column]) => String(column)),
      // Without columns, a foreign key refers to the primary key.
      targets: parts.map(([, , target], index) =>
        target === null ? (own[index] ?? '') : String(target),
      ),
      onDelete: actions[String(action)] ?? 'restrict',
    }
  })
}

const actions: Readonly<Record<string, ReferenceDescription['onDelete']>> = {
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
  'SET DEFAULT': 'setDefault',
}

/** Returns the columns of the primary key, in its order. */
export function keyOf(columns: readonly CatalogueColumn[]): readonly string[] {
  return columns
    .filter(({ keyPlace }) => keyPlace > 0)
    .sort((left, right) => left.keyPlace - right.keyPlace)
    .map(({ name }) => name)
}

/** Returns rows by their first value, without it. */
function grouped(rows: readonly SqliteRow[]): ReadonlyMap<string, readonly SqliteRow[]> {
  const groups = new Map<string, SqliteRow[]>()
  for (const [name, ...row] of rows) {
    const known = groups.get(String(name))
    if (known === undefined) groups.set(String(name), [row])
    else known.push(row)
  }
  return groups
}
