import type { ApplicationDefinitions } from '../../definition/application.ts'
import { publishApplications } from '../../definition/publish-applications.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { isServed } from '../../definition/serve.ts'
import { countLacking } from '../../schema/apply.ts'
import { unfilled } from '../../schema/column-values.ts'
import { createTables, missingStatements } from '../../schema/missing-statements.ts'
import { definitionMistakes, tableMistakes } from '../../schema/mistakes.ts'
import { nothingLacks, unfilledMistake } from '../../schema/required-columns.ts'
import { isStorageError } from '../adapter.ts'
import type { ReadOnlyOpening } from '../read-only-opening.ts'
import type { Dialect, Tables } from '../sql/dialect.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { messageOf, storageFailure } from './failure.ts'

/** The tables of a database, and the collections that can be read. */
export interface OpenedTables {
  readonly found: Tables
  readonly collections: readonly PublishedCollection[]
}

/**
 * Reads the tables of collections, and creates what is missing if the database is to do so. Throws a TypeError with all
 * mistakes if a table does not fit its definition. With `readOnly`, changes nothing.
 */
export async function openTables(
  database: Database,
  connection: Connection,
  all: readonly PublishedCollection[],
  readOnly: ReadOnlyOpening | undefined,
): Promise<OpenedTables> {
  const { dialect } = database
  throwMistakes(dialect, [
    ...definitionMistakes(dialect, all),
    ...(await database.mistakes(connection)),
  ])
  const opened =
    readOnly === undefined
      ? { found: await prepared(database, connection, all), collections: all }
      : await unchanged(database, connection, all, readOnly)
  throwMistakes(dialect, tableMistakes(opened.found, opened.collections))
  return opened
}

/** Returns the tables as they are, and the collections that can be read. */
async function unchanged(
  database: Database,
  connection: Connection,
  collections: readonly PublishedCollection[],
  { missing }: ReadOnlyOpening,
): Promise<OpenedTables> {
  const found = await database.readTables(connection, collections)
  if (database.ensureSchema === false) return { found, collections }
  const absent = collections.filter(
    ({ table, hasColumnDefaults }) => found.find(table) === undefined && !hasColumnDefaults,
  )
  for (const collection of absent) missing(collection)
  const present = collections.filter((collection) => !absent.includes(collection))
  const addsColumns = database.ensureSchema === 'columns'
  // What is missing in their tables is added when the service starts.
  const isComplete = missingStatements(found, present, { addsColumns }).length === 0
  return { found, collections: isComplete ? present : [] }
}

async function prepared(
  database: Database,
  connection: Connection,
  collections: readonly PublishedCollection[],
): Promise<Tables> {
  const { dialect, ensureSchema } = database
  const addsColumns = ensureSchema === 'columns'
  const found = await database.readTables(connection, collections)
  const isComplete = missingStatements(found, collections, { addsColumns }).length === 0
  if (ensureSchema === false || isComplete) return found
  await database.changeSchema(connection, async () => {
    const present = await database.readTables(connection, collections)
    const lacking = addsColumns
      ? await countLacking(connection, present, collections, 'absent')
      : nothingLacks
    const empty = unfilled(present, collections, lacking).filter(({ statement }) => !statement)
    throwMistakes(dialect, empty.map(unfilledMistake))
    for (const statement of missingStatements(present, collections, { addsColumns, lacking })) {
      await connection.change(statement).catch((error: unknown) => {
        throw schemaFailure(dialect, error, statement)
      })
    }
  })
  return database.readTables(connection, collections)
}

/** Returns the CREATE statements of every stored collection. */
export function schemaText(dialect: Dialect, applications: ApplicationDefinitions): string {
  const collections = publishApplications(applications).filter(
    ({ definition }) => !isServed(definition),
  )
  throwMistakes(dialect, definitionMistakes(dialect, collections))
  return `${createTables(dialect, collections).join('\n\n')}\n`
}

function schemaFailure({ errors, storage }: Dialect, error: unknown, statement: string): unknown {
  const converted = storageFailure(errors, error, 'read')
  if (isStorageError(converted) && converted.kind === 'unavailable') return converted
  return new TypeError(`${storage}: this statement failed: ${messageOf(error)}\n${statement}`, {
    cause: error,
  })
}

function throwMistakes({ storage }: Dialect, mistakes: readonly string[]): void {
  if (mistakes.length === 0) return
  throw new TypeError(`${storage}: the tables do not fit.\n- ${mistakes.join('\n- ')}`)
}
