import { join } from 'node:path'
import { runtime, type Timer } from '../runtime.ts'
import { describeServer } from '../schema/describe/describe-server.ts'
import type { ServerCatalogue } from '../schema/describe/describe-server.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import type { Connection, Connections } from '../storage/pool/connection.ts'
import type { SchemaDatabase } from '../schema/apply.ts'
import { CommandError } from './command-error.ts'
import { onlyTables, serverSchema, type Database } from './database.ts'
import { errorMessage } from './text.ts'

/** What a connection to a server has shown. */
export interface ServerPlace {
  /** The name of the database. */
  readonly name: string
  /** Where its tables are: a schema of PostgreSQL, a database of MariaDB. */
  readonly schema: string
  /** How the definition names it. */
  readonly source: string
  /** Returns names that the server does not distinguish as the same one. */
  folded(name: string): string
}

/** A database of a server, reached through a pool. */
export interface ServerDatabase {
  /** How messages name it, without a password. */
  readonly shown: string
  readonly workingFolder: string
  readonly catalogue: ServerCatalogue
  readonly connections: Connections
  /** Throws a CommandError if there is no such place. */
  serverPlaceOf(connection: Connection): Promise<ServerPlace>
  storage(): StorageAdapter
  /** How its tables are changed. Absent if `rowgate schema` does not support the database. */
  readonly tables?: SchemaDatabase
  /** Ends the pool. */
  end(): Promise<void>
}

/** Time-outs for commands in milliseconds: reading a large table takes longer than a request may. */
export const commandTimeouts = {
  acquireTimeout: 30_000,
  statementTimeout: 600_000,
  lockTimeout: 30_000,
}

/** Opens a database of a server. Throws a CommandError if it can't be reached. */
export async function openServer(server: ServerDatabase): Promise<Database> {
  const { shown, workingFolder, catalogue, connections, storage, tables } = server
  const attempt = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await connections.use(work)
    } catch (error) {
      if (error instanceof CommandError) throw error
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new CommandError(`${shown} cannot be read: ${errorMessage(cause)}`)
    }
  }
  const close = async (): Promise<void> => {
    await connections.close()
    await endSoon(server.end())
  }
  try {
    const { name, schema, source, folded } = await attempt((on) => server.serverPlaceOf(on))
    return {
      shown,
      name,
      source,
      keys: join(workingFolder, `${name.replace(/[^\w.-]/g, '_')}.keys.db`),
      folded,
      describe: (only, reading) =>
        attempt(async (connection) => {
          const wanted = new Set(only.map(folded))
          const isNamed = (table: string): boolean => only.length === 0 || wanted.has(folded(table))
          const described = await describeServer(connection, catalogue, {
            schema,
            isNamed,
            reading,
          })
          return onlyTables(described, only, folded)
        }),
      storage,
      ...(tables === undefined ? {} : { schema: serverSchema(tables, connections.use) }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

// A pool waits for connections that are not open yet. The command has its result, whatever becomes of them.
async function endSoon(end: Promise<void>): Promise<void> {
  let timer: Timer | undefined
  const late = new Promise<void>((resolve) => {
    timer = runtime.setTimeout(resolve, 1_000)
  })
  await Promise.race([end.catch(() => undefined), late])
  runtime.clearTimeout(timer)
}

/** Imports the driver of a server. Throws a CommandError that names the package if it is missing. */
export async function driverOf<Driver>(
  load: () => Promise<Driver>,
  [database, name]: readonly [database: string, name: string],
): Promise<Driver> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandError(`${database} needs the package ${name}: npm install ${name}`)
  }
}
