import { bind, type Connection } from '../../storage/pool/connection.ts'
import { sql } from '../../storage/sql/fragments.ts'
import type { SchemaDatabase } from '../apply.ts'
import { readTables } from './catalogue.ts'
import { postgresDialect } from '../../storage/postgres/dialect.ts'
import { postgresChanges } from './change-text.ts'

// Two processes that start at the same time must not create the same table.
const schemaLock = 7_294_104_816

/** Returns how the tables of PostgreSQL are compared and changed. `lockTimeout`: milliseconds. */
export function postgresSchemaDatabase(lockTimeout: number): SchemaDatabase {
  return {
    dialect: { ...postgresDialect, changes: postgresChanges },
    mistakes: encodingMistakes,
    readTables,
    changeSchema: (connection, work) => changeSchema(connection, lockTimeout, work),
  }
}

/** Returns what is wrong with the encoding of the database. */
export async function encodingMistakes(connection: Connection): Promise<readonly string[]> {
  const [encoding] = (await connection.rows(bind(sql`show server_encoding`)))[0] ?? []
  if (encoding === 'UTF8') return []
  return [`The encoding of the database is ${String(encoding)}. Create it with ENCODING 'UTF8'.`]
}

/** Runs work that changes the schema in one transaction, while no other process does. */
export async function changeSchema<Result>(
  connection: Connection,
  lockTimeout: number,
  work: () => Promise<Result>,
): Promise<Result> {
  // Another process may be creating the indexes of large tables, or this one will.
  await connection.command(
    'begin; set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0',
  )
  try {
    await connection.command(`select pg_advisory_xact_lock(${schemaLock})`)
    await connection.command(`set local lock_timeout = ${lockTimeout}`)
    const result = await work()
    await connection.command('commit')
    return result
  } catch (error) {
    await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}
