import type { ApplicationDefinitions } from '../definition/application.ts'
import { publishApplications } from '../definition/publish-applications.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { isServed } from '../definition/serve.ts'
import { everyCondition } from '../request/query.ts'
import { isStorageError, type StorageAdapter } from './adapter.ts'
import { readTables } from './postgres/catalogue.ts'
import type { Tables } from './postgres/tables.ts'
import { connections, type Connection } from './postgres/connection.ts'
import { storageFailure } from './postgres/failure.ts'
import { completePostgres, type PostgresOptions } from './postgres/options.ts'
import type { PostgresPool } from './postgres/pool.ts'
import { readPage, searchedDoubles } from './postgres/reads.ts'
import { createTables, missingParts } from './postgres/schema.ts'
import { definitionMistakes, isEnforced, tableMistakes } from './postgres/table-check.ts'
import { runTransaction } from './postgres/transaction.ts'
import { sql } from './sql.ts'

export type { PostgresOptions } from './postgres/options.ts'
export type {
  PostgresClient,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './postgres/pool.ts'

// Two processes that start at the same time must not create the same table.
const schemaLock = 7_294_104_816

/**
 * Keeps collections in a PostgreSQL database, through a `Pool` of `pg`. The pool must be for this storage alone,
 * because its connections get the settings that the storage needs. `close` does not end it.
 *
 * Throws a TypeError for a pool or an option that is not valid.
 *
 * ```ts
 * const pool = new Pool({ connectionString: 'postgres://localhost/northwind' })
 * const storage = postgresStorage(pool, { ensureSchema: true })
 * ```
 */
export function postgresStorage(pool: PostgresPool, options: PostgresOptions = {}): StorageAdapter {
  const complete = completePostgres(options)
  if (!isPool(pool)) {
    throw new TypeError('postgresStorage: the first argument must be a Pool of the package pg')
  }
  const { use, close } = connections(pool, complete)
  let tables: Tables = { find: () => undefined }
  const enforced = new Set<Reference>()
  let closing: Promise<void> | undefined

  async function opened(connection: Connection, collections: readonly PublishedCollection[]) {
    const [encoding] = (await connection.rows(sql`show server_encoding`))[0] ?? []
    const mistakes = [...definitionMistakes(collections)]
    if (encoding !== 'UTF8') {
      mistakes.push(
        `The encoding of the database is ${String(encoding)}. Create it with ENCODING 'UTF8'.`,
      )
    }
    throwMistakes(mistakes)
    const found = await prepared(connection, collections)
    throwMistakes(tableMistakes(found, collections))
    tables = found
    for (const reference of collections.flatMap(({ references }) => references)) {
      if (isEnforced(reference, found)) enforced.add(reference)
    }
  }

  async function prepared(
    connection: Connection,
    collections: readonly PublishedCollection[],
  ): Promise<Tables> {
    const found = await readTables(connection, collections)
    const missing = missingIn(collections)
    if (complete.ensureSchema === false || missing(found).length === 0) return found
    await connection.command('begin')
    try {
      await connection.command(`select pg_advisory_xact_lock(${schemaLock})`)
      for (const statement of missing(await readTables(connection, collections))) {
        await connection.command(statement).catch((error: unknown) => {
          throw schemaFailure(error, statement)
        })
      }
      await connection.command('commit')
    } catch (error) {
      await connection.command('rollback').catch(() => connection.discard())
      throw error
    }
    return readTables(connection, collections)
  }

  function missingIn(collections: readonly PublishedCollection[]) {
    const addsColumns = complete.ensureSchema === 'columns'
    return (found: Tables) => missingParts(found, collections, { addsColumns })
  }

  async function onConnection<Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await use(work)
    } catch (error) {
      throw storageFailure(error, 'read')
    }
  }

  return {
    name: 'postgres',
    supports: {
      textPages: false,
      durable: true,
      generatedNumbers: true,
      columnDefaults: true,
      conditions: everyCondition,
    },
    open: (collections) => onConnection((connection) => opened(connection, collections)),
    enforces: (reference) => enforced.has(reference),
    filter: (collection, query) =>
      onConnection((connection) =>
        // Two statements must read one state.
        searchedDoubles(collection, query).length > 0
          ? runTransaction(connection, tables, (on) => on.filter(collection, query))
          : readPage(connection, tables, collection, query),
      ),
    transaction: async (_options, work) => {
      const run = { began: false }
      try {
        return await use((connection) => {
          run.began = true
          return runTransaction(connection, tables, work)
        })
      } catch (error) {
        // An error of the work is passed on unchanged.
        throw run.began ? error : storageFailure(error, 'read')
      }
    },
    close: () => (closing ??= close()),
  }
}

/**
 * Returns the CREATE statements of every stored collection, for applications that create their tables
 * themselves instead of setting `ensureSchema`.
 */
export function postgresSchema(applications: ApplicationDefinitions): string {
  const collections = publishApplications(applications).filter(
    ({ definition }) => !isServed(definition),
  )
  throwMistakes(definitionMistakes(collections))
  return `${createTables(collections).join('\n\n')}\n`
}

function schemaFailure(error: unknown, statement: string): unknown {
  const failure = storageFailure(error, 'read')
  if (isStorageError(failure) && failure.kind === 'unavailable') return failure
  const reason = error instanceof Error ? error.message : String(error)
  return new TypeError(`postgresStorage: this statement failed: ${reason}\n${statement}`, {
    cause: error,
  })
}

function throwMistakes(mistakes: readonly string[]): void {
  if (mistakes.length === 0) return
  throw new TypeError(`postgresStorage: the tables do not fit.\n- ${mistakes.join('\n- ')}`)
}

function isPool(pool: unknown): boolean {
  const { connect, on } = (pool ?? {}) as Partial<Record<string, unknown>>
  return typeof connect === 'function' && typeof on === 'function'
}
