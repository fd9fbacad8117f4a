import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'

/** A column of a table. */
export interface Column {
  readonly name: string
  readonly declared: string
  /** Its position in the primary key, from 1. 0: not part of it. */
  readonly keyPlace: number
  /** Whether SQLite computes it from other columns. */
  readonly computed: boolean
  /** Whether it has a DEFAULT. */
  readonly hasDefault: boolean
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
}

/** A table or view of the database. */
export interface Table {
  readonly kind: string
  readonly strict: boolean
  /** The CREATE statement. */
  readonly statement: string
  readonly withoutRowId: boolean
  readonly columns: ReadonlyMap<string, Column>
  /** Returns whether columns, in lower case, are those of the primary key or of a unique index of every row. */
  isUnique(columns: readonly string[]): boolean
  /** Returns its indexes and its primary key. */
  indexes(): readonly Index[]
}

/** The tables of a database that collections name, as they were when they were read. */
export interface Tables {
  /** Returns a table by its name, in any case of ASCII letters. */
  find(name: string): Table | undefined
}

type Listed = readonly [
  name: string,
  kind: string,
  withoutRowId: number,
  strict: number,
  statement: string | null,
]

/** Reads the tables of collections. The number of statements does not depend on the number of tables. */
export function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): Tables {
  const wanted = new Set(collections.map(({ table }) => folded(table)))
  const all = rowsOf(
    connection,
    `SELECT l.name, l.type, l.wr, l.strict, s.sql FROM pragma_table_list AS l
     LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type = l.type WHERE l.schema = 'main'`,
  ) as readonly unknown[] as readonly Listed[]
  const listed = all.filter(([name]) => wanted.has(folded(name)))
  const names = JSON.stringify(listed.map(([name]) => name))
  const columns = columnsOf(connection, names)
  // Most collections have the primary key as their key, so the indexes are seldom read.
  let indexes: ReturnType<typeof indexesOf> | undefined
  const tables = new Map(
    listed.map(([name, kind, withoutRowId, strict, statement]) => {
      const described = columns.get(name) ?? []
      const primary = described.filter(({ keyPlace }) => keyPlace > 0)
      const key: Index = {
        columns: primary
          .toSorted((one, other) => one.keyPlace - other.keyPlace)
          .map((column) => ({ name: column.name, descending: false })),
        unique: true,
        partial: false,
      }
      const all = function* (): Generator<Index> {
        if (primary.length > 0) yield key
        indexes ??= indexesOf(connection, names)
        yield* indexes.get(name)?.values() ?? []
      }
      const table: Table = {
        kind,
        strict: strict === 1,
        statement: statement ?? '',
        withoutRowId: withoutRowId === 1,
        columns: new Map(described.map((column) => [column.name.toLowerCase(), column])),
        isUnique: (own) => {
          for (const { columns: indexed, unique, partial } of all()) {
            if (!unique || partial || indexed.length !== own.length) continue
            if (indexed.every(({ name: column }) => own.includes(column.toLowerCase()))) return true
          }
          return false
        },
        indexes: () => [...all()],
      }
      return [folded(name), table]
    }),
  )
  return { find: (name) => tables.get(folded(name)) }
}

function columnsOf(connection: Connection, names: string): ReadonlyMap<string, readonly Column[]> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, x.name, x.type, x.pk, x.hidden IN (2, 3), x.dflt_value IS NOT NULL
     FROM json_each(?) AS t, pragma_table_xinfo(t.value) AS x`,
    [names],
  ) as readonly unknown[] as readonly (readonly [string, string, string, number, number, number])[]
  const columns = new Map<string, Column[]>()
  for (const [table, name, declared, keyPlace, computed, hasDefault] of rows) {
    const known = columns.get(table) ?? []
    columns.set(table, known)
    known.push({ name, declared, keyPlace, computed: computed === 1, hasDefault: hasDefault === 1 })
  }
  return columns
}

/** Returns the indexes of each table by their names. */
function indexesOf(
  connection: Connection,
  names: string,
): ReadonlyMap<string, ReadonlyMap<string, Index>> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, i.name, i."unique", i.partial, c.name, c."desc"
     FROM json_each(?) AS t, pragma_index_list(t.value) AS i, pragma_index_xinfo(i.name) AS c
     WHERE c."key" = 1 ORDER BY t.key, i.seq, c.seqno`,
    [names],
  ) as readonly unknown[] as readonly IndexPart[]
  const tables = new Map<string, Map<string, Index & { readonly columns: IndexColumn[] }>>()
  for (const [table, name, unique, partial, column, descending] of rows) {
    const indexes = tables.get(table) ?? new Map<string, Index & { columns: IndexColumn[] }>()
    tables.set(table, indexes)
    const index = indexes.get(name) ?? {
      columns: [],
      unique: unique === 1,
      partial: partial === 1,
    }
    indexes.set(name, index)
    // The name of an expression is null. It must not match any column.
    index.columns.push({ name: column ?? '\0', descending: descending === 1 })
  }
  return tables
}

type IndexPart = readonly [
  table: string,
  name: string,
  unique: number,
  partial: number,
  column: string | null,
  descending: number,
]

/** Returns a name as SQLite compares it: without regard to the case of ASCII letters only. */
export function folded(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
