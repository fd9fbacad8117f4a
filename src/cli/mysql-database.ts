import { mysqlCatalogue } from '../schema/mysql/published-fields.ts'
import { mysqlStorage } from '../storage/mysql/mysql.ts'
import { mysqlConnections } from '../storage/mysql/connection.ts'
import { completeMysql } from '../storage/mysql/options.ts'
import { mysqlSchemaDatabase } from '../schema/mysql/schema-database.ts'
import { bind, type Connection } from '../storage/pool/connection.ts'
import { sql } from '../storage/sql/fragments.ts'
import { folded } from '../schema/model.ts'
import type { CommandContext } from './command.ts'
import { CommandError } from './command-error.ts'
import { shownUrl, urlOf, type Database } from './database.ts'
import { commandTimeouts, driverOf, openServer, type ServerPlace } from './server-database.ts'

/**
 * Opens a MariaDB or MySQL database by its URL. As for the clients of the server, the password may be in the variable
 * MYSQL_PWD. Throws a CommandError if the database can't be reached.
 */
export async function openMysql(
  text: string,
  { workingFolder, environment }: CommandContext,
): Promise<Database> {
  const url = urlOf(text)
  const password = url.password === '' ? environment['MYSQL_PWD'] : undefined
  const load = () => import('mysql2/promise')
  const { createPool } = await driverOf(load, ['MariaDB', 'mysql2'])
  const pool = createPool({
    uri: url.href,
    connectTimeout: 10_000,
    ...(password === undefined ? {} : { password }),
  })
  const { server, ...connections } = mysqlConnections(pool, completeMysql(commandTimeouts))
  return openServer({
    shown: shownUrl(url),
    workingFolder,
    catalogue: mysqlCatalogue(server),
    connections,
    serverPlaceOf,
    storage: () => mysqlStorage(pool),
    tables: mysqlSchemaDatabase(server, commandTimeouts.lockTimeout),
    end: () => pool.end(),
  })
}

async function serverPlaceOf(connection: Connection): Promise<ServerPlace> {
  const statement = bind(sql`select database(), @@lower_case_table_names`)
  const [[name, lower] = []] = await connection.rows(statement)
  if (typeof name !== 'string')
    throw new CommandError(
      'The URL has no database name. Example: mysql://user@localhost:3306/shop.',
    )
  if (/^(?:information_schema|performance_schema|mysql|sys)$/i.test(name))
    throw new CommandError(
      `The database ${name} is one of the server. Its tables are not published.`,
    )
  // With 0, the names of tables are names of files, which differ in case.
  return { name, schema: name, source: name, folded: lower === '0' ? (each) => each : folded }
}
