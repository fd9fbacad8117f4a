import { postgresCatalogue } from '../schema/postgres/published-fields.ts'
import { postgresStorage } from '../storage/postgres/postgres.ts'
import { connections } from '../storage/postgres/connection.ts'
import { completePostgres } from '../storage/postgres/options.ts'
import { postgresSchemaDatabase } from '../schema/postgres/schema-database.ts'
import { bind, type Connection } from '../storage/pool/connection.ts'
import { quoted, sql } from '../storage/sql/fragments.ts'
import { CommandError } from './command-error.ts'
import { shownUrl, urlOf, type Database } from './database.ts'
import { commandTimeouts, driverOf, openServer, type ServerPlace } from './server-database.ts'
import { printable } from './text.ts'

/** Where a PostgreSQL database is opened. */
export interface PostgresPlace {
  readonly schema: string | undefined
  readonly workingFolder: string
}

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
  const { default: driver } = await driverOf(() => import('pg'), ['PostgreSQL', 'pg'])
  const pool = new driver.Pool({ connectionString: url.href, connectionTimeoutMillis: 10_000 })
  return openServer({
    shown,
    workingFolder,
    catalogue: postgresCatalogue,
    connections: connections(pool, completePostgres(commandTimeouts)),
    serverPlaceOf: (connection) => serverPlaceOf(connection, schema),
    storage: () => postgresStorage(pool),
    tables: postgresSchemaDatabase(commandTimeouts.lockTimeout),
    end: () => pool.end(),
  })
}

async function serverPlaceOf(
  connection: Connection,
  schema: string | undefined,
): Promise<ServerPlace> {
  const statement = bind(sql`select current_database(), current_schema()`)
  const [[name, current] = []] = await connection.rows(statement)
  if (typeof name !== 'string' || typeof current !== 'string')
    throw new CommandError(
      schema === undefined
        ? 'The search path of the connection has no schema. Name one with --schema.'
        : `There is no schema ${printable(schema)}, or the role may not use it.`,
    )
  if (/^pg_|^information_schema$/.test(current))
    throw new CommandError(
      `The schema ${current} is one of the server. Its tables are not published.`,
    )
  return {
    name,
    schema: current,
    source: schema === undefined ? name : `${name}, schema ${schema}`,
    folded: (each) => each,
  }
}
