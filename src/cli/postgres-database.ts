import { join } from 'node:path'
import type { Pool, PoolConfig } from 'pg'
import { postgresCatalogue } from '../introspection/postgres/catalogue.ts'
import { describeServer } from '../introspection/server/read-database.ts'
import { postgresStorage } from '../storage/postgres.ts'
import { connections } from '../storage/postgres/connection.ts'
import { completePostgres } from '../storage/postgres/options.ts'
import { postgresSchemaDatabase } from '../storage/postgres/schema-database.ts'
import { bind, type Connection } from '../storage/sql/connection.ts'
import { quoted, sql } from '../storage/sql/fragments.ts'
import { CommandError } from './command-error.ts'
import { onlyTables, serverSchema, shownUrl, urlOf, type Database } from './database.ts'
import { messageOf, printable } from './text.ts'

/** Where a PostgreSQL database is opened. */
export interface PostgresPlace {
  readonly schema: string | undefined
  readonly workingFolder: string
}

// Reading a large table takes longer than a request may.
const longest = 600_000
const lockTimeout = 30_000

/** Opens a PostgreSQL database by its URL. Throws a CommandError if it can't be reached. */
export async function openPostgres(
  text: string,
  { schema, workingFolder }: PostgresPlace,
): Promise<Database> {
  const url = urlOf(text)
  const shown = shownUrl(url)
  if (schema !== undefined) {
    const option = `-c search_path=${quoted(schema).replace(/[\\\s]/g, '\\$&')}`
    url.searchParams.set(
      'options',
      [url.searchParams.get('options') ?? '', option].join(' ').trim(),
    )
  }
  const pool = await createPool({ connectionString: url.href, connectionTimeoutMillis: 10_000 })
  const { use, close } = connections(
    pool,
    completePostgres({ acquireTimeout: 30_000, statementTimeout: longest, lockTimeout }),
  )
  const attempt = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await use(work)
    } catch (error) {
      if (error instanceof CommandError) throw error
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new CommandError(`${shown} can not be read: ${messageOf(cause)}`)
    }
  }
  const end = async (): Promise<void> => {
    await close()
    await pool.end()
  }
  try {
    const { database, current } = await attempt((connection) => placeOf(connection, schema))
    const name = database
    return {
      shown,
      name,
      source: schema === undefined ? name : `${name}, schema ${schema}`,
      keys: join(workingFolder, `${name.replace(/[^\w.-]/g, '_')}.keys.db`),
      folded: (each) => each,
      describe: (only) =>
        attempt(async (connection) =>
          onlyTables(
            await describeServer(connection, postgresCatalogue, current, only),
            only,
            (each) => each,
          ),
        ),
      storage: () => postgresStorage(pool),
      schema: serverSchema(postgresSchemaDatabase(lockTimeout), use),
      close: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function placeOf(
  connection: Connection,
  schema: string | undefined,
): Promise<{ readonly database: string; readonly current: string }> {
  const statement = bind(sql`select current_database(), current_schema()`)
  const [[database, current] = []] = await connection.rows(statement)
  if (typeof database === 'string' && typeof current === 'string') return { database, current }
  throw new CommandError(
    schema === undefined
      ? 'The search path of the connection names no schema. Name one with --schema.'
      : `There is no schema ${printable(schema)}.`,
  )
}

async function createPool(config: PoolConfig): Promise<Pool> {
  try {
    const { default: driver } = await import('pg')
    return new driver.Pool(config)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandError('PostgreSQL needs the package pg: npm install pg')
  }
}
