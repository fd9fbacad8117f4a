import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isEnforced } from '../../schema/compare.ts'
import type { FoundTables } from '../../schema/database.ts'
import { missingStatements } from '../../schema/missing-statements.ts'
import { tableMistakes } from '../../schema/mistakes.ts'
import { nothingLacks } from '../../schema/required-columns.ts'
import { absentValues } from '../../schema/sqlite/column-values.ts'
import { guaranteesOf, identitiesIn, readBackCollections } from '../../schema/sqlite/guarantees.ts'
import { readTables } from '../../schema/sqlite/read-tables.ts'
import { encodingMistake } from '../../schema/sqlite/read.ts'
import { slowConditions } from '../../schema/sqlite/slow-conditions.ts'
import { statementMistakes } from '../../schema/sqlite/statement-check.ts'
import { indexFailure } from '../../schema/sqlite/statements.ts'
import { conditionAdvice } from '../../schema/unindexed-conditions.ts'
import type { StorageAdvice } from '../../observation/reports.ts'
import type { ReadOnlyOpening } from '../read-only-opening.ts'
import { rowsOf, type Connection } from './connection/connection.ts'
import { throwMistakes } from './connection/failure.ts'
import type { Connections } from './connection/open.ts'
import type { CompleteSqlite } from './connection/options.ts'
import type { Guarantee } from './reading/guaranteed-values.ts'
import type { Opened } from './reading/read-session.ts'
import { SearchIndexes, type SearchIndexFor } from './search/open-indexes.ts'

/** The tables of the open collections of a database: checked, created if they are missing, and what they guarantee. */
export class OpenTables implements Opened {
  readonly guaranteed = new Map<PublishedField, Guarantee>()
  readonly identities = new Map<PublishedCollection, readonly string[]>()
  readonly readBack = new Set<PublishedCollection>()
  /** The references that foreign keys enforce. */
  readonly enforced = new Set<Reference>()
  readonly searchIndexFor: SearchIndexFor
  /** What would make its conditions faster. */
  advice: readonly StorageAdvice[] = []
  readonly #connection: Connection
  readonly #absent: string | undefined
  readonly #ensureSchema: CompleteSqlite['ensureSchema']
  readonly #searches: SearchIndexes
  #collections = 0
  #defersConstraints = false

  constructor(
    { writer, absent }: Connections,
    { ensureSchema }: Pick<CompleteSqlite, 'ensureSchema'>,
  ) {
    this.#connection = writer
    this.#absent = absent
    this.#ensureSchema = ensureSchema
    this.#searches = new SearchIndexes(writer)
    this.searchIndexFor = this.#searches.searchIndexFor
  }

  collections(): number {
    return this.#collections
  }

  /** Returns whether a table has constraints that are checked at the commit. */
  defersConstraints(): boolean {
    return this.#defersConstraints
  }

  /**
   * Opens the tables of collections. Returns the tables of the database, and the collections that have one. Throws a
   * TypeError that lists every table that does not fit.
   */
  open(
    all: readonly PublishedCollection[],
    readOnly: ReadOnlyOpening | undefined,
  ): { readonly tables: FoundTables; readonly collections: readonly PublishedCollection[] } {
    const collections = readOnly === undefined ? all : this.#present(all, readOnly)
    const mistake = encodingMistake(this.#connection)
    if (mistake !== undefined) throw new TypeError(`sqliteStorage: ${mistake}`)
    this.#searches.require(collections)
    let tables = readTables(this.#connection, collections)
    const addsColumns = this.#ensureSchema === 'columns'
    // If nothing is missing, the start does not wait for the write lock.
    const isComplete =
      this.#ensureSchema === false ||
      missingStatements(tables, collections, { addsColumns }).length === 0
    if (!isComplete && readOnly === undefined) {
      this.#create(collections, addsColumns)
      tables = readTables(this.#connection, collections)
    }
    const mistakes = [
      ...tableMistakes(tables, collections),
      ...statementMistakes(this.#connection, tables, collections),
    ]
    // What is missing is added when the service starts.
    if (isComplete || readOnly === undefined) throwMistakes(mistakes)
    this.#note(tables, collections)
    return { tables, collections }
  }

  /** Returns the collections whose tables exist or must exist. */
  #present(
    all: readonly PublishedCollection[],
    readOnly: ReadOnlyOpening,
  ): readonly PublishedCollection[] {
    if (this.#absent !== undefined && this.#ensureSchema === false) {
      throw new Error(`sqliteStorage: the file ${this.#absent} does not exist`)
    }
    if (this.#ensureSchema === false) return all
    const tables = readTables(this.#connection, all)
    const missing = all.filter(
      ({ table, hasColumnDefaults }) => tables.find(table) === undefined && !hasColumnDefaults,
    )
    for (const collection of missing) readOnly.missing(collection)
    return all.filter((collection) => !missing.includes(collection))
  }

  #create(collections: readonly PublishedCollection[], addsColumns: boolean): void {
    const connection = this.#connection
    connection.execute('BEGIN IMMEDIATE')
    try {
      const present = readTables(connection, collections)
      const lacking = addsColumns ? absentValues(connection, present, collections) : nothingLacks
      for (const statement of missingStatements(present, collections, { addsColumns, lacking }))
        executeSchema(connection, statement)
      connection.execute('COMMIT')
    } finally {
      if (connection.inTransaction()) connection.execute('ROLLBACK')
    }
  }

  #note(tables: FoundTables, collections: readonly PublishedCollection[]): void {
    const { guaranteed, identities, enforced, readBack } = this
    for (const [field, guarantee] of guaranteesOf(tables, collections))
      guaranteed.set(field, guarantee)
    for (const [each, columns] of identitiesIn(tables, collections)) identities.set(each, columns)
    for (const each of collections.flatMap(({ references }) => references))
      if (isEnforced(each, tables)) enforced.add(each)
    for (const each of readBackCollections(tables, collections)) readBack.add(each)
    this.#searches.opened(tables, collections)
    this.#collections = Math.max(this.#collections, collections.length)
    const deferred = `SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1`
    this.#defersConstraints = rowsOf(this.#connection, deferred).length > 0
    this.advice = collections.flatMap((collection) =>
      slowConditions(this.#connection, tables, collection).map(conditionAdvice),
    )
  }
}

function executeSchema(connection: Connection, statement: string): void {
  try {
    connection.execute(statement)
  } catch (error) {
    throw indexFailure(error, statement)
  }
}
