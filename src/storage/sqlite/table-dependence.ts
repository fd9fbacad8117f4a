import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { quoted } from '../sql/fragments.ts'
import { folded } from '../sql/tables.ts'

/**
 * What the rows of a collection depend on: the table with this name in lower case, `any` table, or also on
 * something that is not stored, such as the time (`unknown`).
 */
export type Dependence = { readonly table: string } | 'any' | 'unknown'

/** Returns the kind of a table, such as `view`; undefined if it does not exist. */
export type KindOf = (table: string) => string | undefined

/** Reads the kinds of all tables. */
export function readKinds(connection: Connection): KindOf {
  const rows = rowsOf(connection, `SELECT name, type FROM pragma_table_list WHERE schema = 'main'`)
  const kinds = new Map(rows.map(([name, kind]) => [folded(String(name)), String(kind)]))
  return (table) => kinds.get(folded(table))
}

/** Returns what the rows of a collection depend on. */
export function dependenceOf(
  connection: Connection,
  { table }: PublishedCollection,
  kindOf: KindOf,
): Dependence {
  const kind = kindOf(table)
  if (kind === 'table') return { table: folded(table) }
  return kind === 'view' && !isRepeatable(connection, table) ? 'unknown' : 'any'
}

// Functions of date and time may be called with 'now'.
const unrepeatable =
  /^(?:date|time|datetime|julianday|strftime|unixepoch|timediff|current_\w+|random|randomblob|changes|total_changes|last_insert_rowid)\(/

/** Returns whether a view has the same rows until a table changes, by the program that SQLite compiles. */
function isRepeatable(connection: Connection, view: string): boolean {
  try {
    const program = rowsOf(connection, `EXPLAIN SELECT * FROM ${quoted(view)}`)
    return program.every(([, opcode, , , , operand]) => {
      // A virtual table may read anything.
      return opcode !== 'VOpen' && !unrepeatable.test(String(operand))
    })
  } catch {
    return false
  }
}
