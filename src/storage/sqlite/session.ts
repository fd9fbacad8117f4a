import type { PublishedCollection } from '../../definition/published.ts'
import { oneItem, shownCount } from '../../request/query.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { StorageError } from '../adapter.ts'
import type { Condition, Row, StoragePage, StorageQuery, StorageTextPage } from '../adapter.ts'
import type { Connection, Prepared, SqliteRow } from './connection/connection.ts'
import {
  filterRows,
  filterText,
  pageRead,
  type PageRead,
  type RawPage,
  type ReadPage,
} from './reading/page-read.ts'
import type { Guaranteed } from './reading/guaranteed-values.ts'
import type { ReadSnapshot } from './reading/read-snapshot.ts'
import { keptRow, readRow, type ReadRow } from './reading/rows.ts'
import { needleKind, type NeedleKind } from './search/search.ts'
import type { Inputs } from '../sql/fragments.ts'
import { statementBytes, statementCapacity } from '../sql/shape.ts'
import type { SearchIndexFor } from './search/open-indexes.ts'
import { statementCache } from './statements/statement-cache.ts'
import {
  deleteStatement,
  insertStatement,
  updateStatement,
  writeKey,
  type Identities,
  type Output,
  type StatementText,
  type WriteShape,
} from './statements/statements.ts'
import { updateText, type UpdateText } from './statements/update-text.ts'
import type { WrittenTables } from './writing/written-tables.ts'

/**
 * Reads and writes rows on one connection, synchronously. Throws the errors of the driver. A write that returns no
 * row or throws has changed nothing.
 */
export interface Session {
  /** Returns the statements of a page, without running them. */
  pageRead(collection: PublishedCollection, query: StorageQuery, output: Output): PageRead
  runPage(read: PageRead): RawPage
  /** Returns the read of the rows that a search index finds if they are few, otherwise the given read. */
  choose(read: PageRead): PageRead
  filter(collection: PublishedCollection, query: StorageQuery): StoragePage
  filterText(collection: PublishedCollection, query: StorageQuery): StorageTextPage | undefined
  insert(collection: PublishedCollection, row: Row): Row
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row | undefined
  readonly updateText: UpdateText
  delete(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined
}

/** What the sessions of a storage share. It grows when collections are opened. */
export interface Opened {
  readonly guaranteed: Guaranteed
  readonly identities: Identities
  /** The collections whose rows are read back after a write: a column may have another value than it was given. */
  readonly readBack: ReadonlySet<PublishedCollection>
  readonly searchIndexFor: SearchIndexFor
  /** Returns the number of open collections. */
  collections(): number
}

/** What the session of one connection uses. */
export interface SessionUse {
  /** Notes the tables that the session writes. */
  readonly written?: WrittenTables
  /** Shared by the reads whose JSON text becomes a response. Other reads end it, so they see every commit. */
  readonly snapshot?: ReadSnapshot
}

/** Creates a session on a connection. It caches prepared statements. */
export function sqliteSession(
  connection: Connection,
  opened: Opened,
  { written, snapshot }: SessionUse,
): Session {
  const { guaranteed, identities, readBack, searchIndexFor } = opened
  const statements = statementCache({
    entries: () => statementCapacity(opened.collections()),
    bytes: () => statementBytes(opened.collections()),
  })
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')
  const savepoint = connection.command('SAVEPOINT rowgate_write')
  const release = connection.command('RELEASE rowgate_write')
  const rollbackTo = connection.command('ROLLBACK TO rowgate_write')

  // Whether the running write has a savepoint.
  let isGuarded = false

  // A planned query is frozen, and used again for each request with the same target.
  const prepared = new WeakMap<
    StorageQuery,
    { readonly collection: PublishedCollection; readonly read: PageRead }
  >()

  // An application may have switched its handle to `case_sensitive_like`.
  const isCaseIgnored = connection.value(`SELECT 'A' LIKE 'a'`)
  const kindOf = (needle: string): NeedleKind =>
    Number(isCaseIgnored()) === 1 ? needleKind(needle) : 'any'

  // The page and the count are two statements. A transaction gives both the same snapshot.
  function inSnapshot<Result>(work: () => Result): Result {
    if (connection.inTransaction()) return work()
    begin()
    try {
      return work()
    } finally {
      if (connection.inTransaction()) commit()
    }
  }

  function runPage(read: PageRead): RawPage {
    const { output, page, count, inputs } = read
    if (output === 'json') snapshot?.enter()
    else snapshot?.end()
    const readRows = (): RawPage['rows'] => {
      if (page === undefined) return []
      const prepare = output === 'json' ? connection.strings : connection.rows
      return statements.run<RawPage['rows']>(page, () => read.text('page'), prepare, inputs)
    }
    if (count === undefined) return { rows: readRows(), count: null }
    return inSnapshot(() => {
      const rows = readRows()
      const shown = shownCount(inputs, rows.length)
      if (shown !== undefined) return { rows, count: shown }
      const [counted] = statements.run(count, () => read.text('count'), connection.rows, inputs)
      return { rows, count: Number(counted?.[0]) }
    })
  }

  function choose(read: PageRead): PageRead {
    const { found, inputs } = read
    if (found === undefined) return read
    const { probe, probeText } = found
    return statements.run(probe, probeText, connection.rows, inputs).length === 0 ? found : read
  }

  const prepareRead: Session['pageRead'] = (collection, query, output) => {
    const known = prepared.get(query)
    if (known?.collection === collection && known.read.output === output) return known.read
    const checksAll = output === 'lengths' || !connection.returnsWholeStrings
    const options = { output, checksAll, guaranteed, identities, kindOf, searchIndexFor }
    const read = pageRead(collection, query, options)
    // How a search is compared depends on the connection.
    if (query.search === null && Object.isFrozen(query)) prepared.set(query, { collection, read })
    return read
  }
  // The statements run synchronously, so neither of these returns a promise.
  const readPage: ReadPage = (collection, query, output) =>
    runPage(choose(prepareRead(collection, query, output)))
  const filter = (collection: PublishedCollection, query: StorageQuery): StoragePage =>
    filterRows(readPage, collection, query) as StoragePage

  /** Writes one row, and returns it if the statement does. */
  function write(
    kind: keyof typeof writes,
    collection: PublishedCollection,
    shape: WriteShape,
    row?: Row,
  ): { readonly count: number; readonly written?: ReadRow } {
    const { conditions, names, returning } = shape
    const key = writeKey(`${kind}${returning ? '' : '!'}`, collection, conditions, names)
    const text = (): StatementText => writes[kind](collection, shape, guaranteed)
    const inputs: Inputs = { conditions, ...(row && { row }) }
    if (!returning) return { count: statements.run(key, text, noted(connection.changes), inputs) }
    const [first] = statements.run(key, text, noted(connection.rows), inputs)
    return first === undefined
      ? { count: 0 }
      : { count: 1, written: readRow(collection, collection.allNames, first) }
  }

  function noted<Result>(prepare: (sql: string) => Prepared<Result>) {
    return (sql: string): Prepared<Result> => {
      const run = prepare(sql)
      if (written === undefined) return run
      return (parameters) => {
        if (!written.note(sql, parameters)) guard()
        return run(parameters)
      }
    }
  }

  /** Sets the savepoint of the running write, which may leave changes behind if it fails. */
  function guard(): void {
    if (isGuarded) return
    savepoint()
    isGuarded = true
  }

  /** Runs a write. If it returns undefined or throws, it has changed nothing. */
  function undoing<Result extends Row | undefined>(work: () => Result): Result {
    let result: Result | undefined
    try {
      result = work()
      return result
    } finally {
      // A trigger may have rolled back the transaction.
      if (isGuarded && connection.inTransaction()) {
        if (result === undefined) rollbackTo()
        release()
      }
      isGuarded = false
    }
  }

  function rowBefore(
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): ReadRow | undefined {
    const query = oneItem(conditions, collection.allNames)
    const read = (output: 'rows' | 'lengths'): ReadRow | undefined => {
      const [row] = runPage(prepareRead(collection, query, output)).rows as readonly SqliteRow[]
      return row && readRow(collection, query.select, row)
    }
    const row = read('rows')
    return row?.uncertain === true ? read('lengths') : row
  }

  return {
    pageRead: prepareRead,
    runPage,
    choose,
    filter,
    filterText: (collection, query) =>
      filterText(readPage, collection, query) as StorageTextPage | undefined,
    insert: (collection, row) =>
      undoing(() => {
        const names = namesIn(collection, row)
        // A column keeps each value as it is given. Returning the row would cost as much as writing it.
        const isKnown = names === collection.allNames && !readBack.has(collection)
        // What is returned may not fit.
        if (!isKnown) guard()
        const shape = { names, conditions: [], returning: !isKnown }
        const { count, written: stored } = write('insert', collection, shape, row)
        if (isKnown && count === 1) return row
        if (stored === undefined) {
          const cause = new Error('a trigger of the table has skipped the row')
          throw new StorageError('invalid', { cause })
        }
        return keptRow(collection, stored, row, collection.allNames)
      }),
    update: (collection, conditions, changes) =>
      undoing(() => {
        const before = rowBefore(collection, conditions)
        if (before === undefined) return undefined
        const names: string[] = []
        // A column that keeps its value is not set, because a trigger may watch it.
        for (const name in changes) {
          const value = changes[name]
          if (value !== undefined && value !== before.row[name]) names.push(name)
        }
        if (names.length === 0) return before.row
        const returning = readBack.has(collection)
        // What is returned may not fit.
        if (returning) guard()
        const shape = { names, conditions, returning }
        const { count, written: stored } = write('update', collection, shape, changes)
        if (count === 0) return undefined
        return stored === undefined
          ? changedRow(before.row, changes, names)
          : keptRow(collection, stored, changes, names)
      }),
    updateText: updateText({ connection, statements, written, readBack, guaranteed }),
    delete: (collection, conditions) =>
      undoing(() => {
        const before = rowBefore(collection, conditions)
        if (before === undefined) return undefined
        const shape = { names: noNames, conditions, returning: false }
        return write('delete', collection, shape).count === 0 ? undefined : before.row
      }),
  }
}

const writes = { insert: insertStatement, update: updateStatement, delete: deleteStatement }
const noNames: readonly string[] = Object.freeze([])

/** Returns the names of the fields that have a value or null. If all have one, the list is `allNames`. */
function namesIn({ allNames }: PublishedCollection, row: Row): readonly string[] {
  for (const name of allNames) {
    if (row[name] === undefined) return allNames.filter((other) => row[other] !== undefined)
  }
  return allNames
}

function changedRow(before: Row, changes: Row, names: readonly string[]): Row {
  const row: Record<string, StoredValue> = {}
  for (const name in before) row[name] = before[name] as StoredValue
  for (const name of names) row[name] = changes[name] as StoredValue
  return row
}
