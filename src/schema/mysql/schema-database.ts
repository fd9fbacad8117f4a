import { bind, type Connection } from '../../storage/pool/connection.ts'
import type { Tables } from '../../storage/sql/dialect.ts'
import { unavailable } from '../../storage/pool/failure.ts'
import { sql } from '../../storage/sql/fragments.ts'
import type { SchemaDatabase } from '../apply.ts'
import { finder, type Table } from '../model.ts'
import { lengthCheck } from './catalogue-columns.ts'
import { readTables } from './catalogue.ts'
import { mysqlDialect, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { mysqlChanges } from './change-text.ts'

/**
 * Returns how the tables of MariaDB or MySQL are compared and changed. `server` returns which one it is, once a
 * connection is open. `lockTimeout`: milliseconds.
 */
export function mysqlSchemaDatabase(
  server: () => MysqlServer,
  lockTimeout: number,
): SchemaDatabase {
  return {
    get dialect() {
      return { ...mysqlDialect(server()), changes: mysqlChanges }
    },
    mistakes: databaseMistakes,
    async readTables(connection, collections) {
      const tables = await readTables(connection, collections, server(), 'all')
      return withUsedColumns(connection, tables, [
        ...new Set(collections.flatMap(({ table }) => tables.find(table) ?? [])),
      ])
    },
    changeSchema: (connection, work) =>
      changeSchema(connection, Math.ceil(lockTimeout / 1_000), work),
  }
}

/** Returns what is wrong with the connection. */
export async function databaseMistakes(connection: Connection): Promise<readonly string[]> {
  const [[name] = []] = await connection.rows(bind(sql`select database()`))
  return typeof name === 'string' ? [] : ['The pool has no database. Set its option database.']
}

/** Runs work that changes the schema, while no other process does. The server commits each statement. */
export async function changeSchema<Result>(
  connection: Connection,
  seconds: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const name = sql`concat('rowgate ', left(sha2(database(), 256), 40))`
  const wait = { read: () => seconds }
  const [[locked] = []] = await connection.rows(bind(sql`select get_lock(${name}, ${wait})`))
  if (locked !== '1') throw unavailable(new Error('another process changes the schema'))
  try {
    return await work()
  } finally {
    await connection.rows(bind(sql`select release_lock(${name})`)).catch(() => connection.discard())
  }
}

// The server would drop a column that a view or a trigger reads, and rejects to drop one that a constraint, another
// column or another table needs.
async function withUsedColumns(
  connection: Connection,
  tables: Tables,
  found: readonly Table[],
): Promise<Tables> {
  const rows = await connection.rows(
    bind(sql`select view_definition, 'view' from information_schema.views where table_schema = database()
      union all select action_statement, 'trigger' from information_schema.triggers where trigger_schema = database()
      union all select check_clause, 'check' from information_schema.check_constraints where constraint_schema = database() and constraint_name <> ${{ read: () => lengthCheck }}
      union all select generation_expression, 'column' from information_schema.columns where table_schema = database()
      union all select referenced_column_name, 'key' from information_schema.key_column_usage
        where referenced_table_schema = database()`),
  )
  const words = new Set(rows.flatMap(([text]) => wordsOf(text ?? '')))
  // The definition of a view that the user may not see is empty.
  const isHidden = rows.some(([text, kind]) => kind === 'view' && text === '')
  const marked = found.map((table): Table => {
    const columns = table.columns.map((column) => ({
      ...column,
      isUsed: isHidden || wordsOf(column.name).every((word) => words.has(word)),
    }))
    return { ...table, columns, find: finder(columns) }
  })
  return { ...tables, ...tables.names(marked) }
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? []
}
