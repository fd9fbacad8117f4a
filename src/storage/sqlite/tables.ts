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
  let indexes: ReturnType<typeof uniquesOf> | undefined
  const tables = new Map(
    listed.map(([name, kind, withoutRowId, strict, statement]) => {
      const described = columns.get(name) ?? []
      const primary = described.filter(({ keyPlace }) => keyPlace > 0)
      const key = new Set(primary.map((column) => column.name.toLowerCase()))
      const uniques = function* () {
        if (key.size > 0) yield key
        indexes ??= uniquesOf(connection, names)
        yield* indexes.get(name)?.values() ?? []
      }
      const table: Table = {
        kind,
        strict: strict === 1,
        statement: statement ?? '',
        withoutRowId: withoutRowId === 1,
        columns: new Map(described.map((column) => [column.name.toLowerCase(), column])),
        isUnique: (own) => {
          for (const unique of uniques()) {
            if (unique.size === own.length && own.every((column) => unique.has(column))) return true
          }
          return false
        },
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

/** Returns the columns of the unique indexes of each table, by the name of the index. */
function uniquesOf(
  connection: Connection,
  names: string,
): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = rowsOf(
    connection,
    `SELECT t.value, i.name, lower(c.name)
     FROM json_each(?) AS t, pragma_index_list(t.value) AS i, pragma_index_info(i.name) AS c
     WHERE i."unique" = 1 AND i.partial = 0`,
    [names],
  ) as readonly unknown[] as readonly (readonly [string, string, string | null])[]
  const tables = new Map<string, Map<string, Set<string>>>()
  for (const [table, index, column] of rows) {
    const indexes = tables.get(table) ?? new Map<string, Set<string>>()
    tables.set(table, indexes)
    const known = indexes.get(index) ?? new Set<string>()
    // The name of an expression is null. It must not match any column.
    indexes.set(index, known.add(column ?? '\0'))
  }
  return tables
}

/** Returns a name as SQLite compares it: without regard to the case of ASCII letters only. */
export function folded(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
