import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Connection } from '../../storage/sqlite/connection/connection.ts'
import { isReadBackField } from './guarantees.ts'
import {
  impossibleReads,
  impossibleWrites,
  readsOf,
  writesOf,
  type WrittenTable,
} from './impossible-writes.ts'
import type { FoundTables } from '../database.ts'
import type { Table } from '../model.ts'

/** Returns one message for each published event whose statements SQLite does not compile, with the reason and the way out. */
export function statementMistakes(
  connection: Connection,
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  // Some builds of SQLite explain statements with functions that do not exist.
  const canExplain = connection.compilesChecks && !compileTogether(connection, ['SELECT unknown()'])
  return collections.flatMap((collection) => {
    const table = tables.find(collection.table)
    if (table === undefined) return []
    if (canExplain && compileTogether(connection, statementsOf(table, collection))) return []
    const { unreadable, mistakes } = checkStatements(connection, table, collection)
    if (unreadable === undefined) return mistakes
    return [`${collection.application}/${collection.name}: its rows can't be read: ${unreadable}.`]
  })
}

/** Returns whether statements compile. Together they take a third of the time that preparing each of them takes. */
function compileTogether(connection: Connection, statements: readonly string[]): boolean {
  try {
    connection.execute(statements.map((sql) => `EXPLAIN QUERY PLAN ${sql}`).join(';'))
    return true
  } catch {
    return false
  }
}

/** Returns the statements of a collection. If all of them compile, {@link checkStatements} finds nothing. */
function statementsOf(table: Table, collection: PublishedCollection): readonly string[] {
  const columns = columnsIn(table, collection)
  if (columns === undefined) return []
  const reads = readsOf(collection.table, columns)
  return isWritten(table, collection)
    ? [...reads, ...writesOf(writtenTable(table, collection))]
    : reads
}

/** Returns the columns of the fields; undefined if the table lacks one of them. */
function columnsIn(table: Table, { fields }: PublishedCollection): readonly string[] | undefined {
  const columns = fields.map(({ column }) => column)
  return columns.every((column) => table.find(column) !== undefined) ? columns : undefined
}

function isWritten({ kind }: Table, { publishes }: PublishedCollection): boolean {
  return kind === 'table' && writes.some((event) => publishes.has(event))
}

/** What the statements of a collection lack. */
export interface CheckedStatements {
  /** Why rows can't be read or counted; undefined if they can. */
  readonly unreadable?: string | undefined
  readonly mistakes: readonly string[]
}

/**
 * Checks the statements of one collection. If its table can't be read, or lacks one of its columns, that is a mistake of
 * its own, and nothing is checked.
 */
export function checkStatements(
  connection: Connection,
  table: Table,
  collection: PublishedCollection,
): CheckedStatements {
  const columns = columnsIn(table, collection)
  if (columns === undefined) return { mistakes: [] }
  const unreadable = impossibleReads(connection, collection.table, columns)
  const canWrite = unreadable === undefined && isWritten(table, collection)
  return { unreadable, mistakes: canWrite ? writeMistakes(connection, table, collection) : [] }
}

const writes = ['Insert', 'Update', 'Delete'] as const

function writeMistakes(
  connection: Connection,
  table: Table,
  collection: PublishedCollection,
): readonly string[] {
  const { fields, publishes, application, name } = collection
  const place = `${application}/${name}`
  const written = writtenFields(table, fields)
  const impossible = impossibleWrites(connection, writtenTable(table, collection))
  const changeable = written.filter(({ inKey, readOnly }) => !inKey && !readOnly)
  const fixed = changeable.filter(({ column }) => impossible.columns.has(column))
  const [first] = fixed
  const isFixed = first !== undefined && fixed.length === changeable.length
  const failing = (event: (typeof writes)[number], reason: string | undefined) =>
    reason === undefined || !publishes.has(event)
      ? []
      : [`${place}: ${event} fails for every item: ${reason}; or leave ${event} out of publishes.`]
  const defaults = written.flatMap(({ name: field, column }) => {
    const reason = publishes.has('Insert') ? impossible.defaults.get(column) : undefined
    if (reason === undefined) return []
    return [`${place}.${field}: its default fails: ${reason}; or leave out default: 'database'.`]
  })
  const updates = fixed.map(({ name: field, column }) => {
    const reason = impossible.columns.get(column) ?? ''
    return `${place}.${field}: an update of it fails: ${reason}; or set readOnly: true.`
  })
  return [
    ...failing('Insert', impossible.insert),
    ...defaults,
    ...failing('Update', isFixed ? impossible.columns.get(first.column) : undefined),
    ...(publishes.has('Update') && !isFixed ? updates : []),
    ...failing('Delete', impossible.delete),
  ]
}

function writtenTable(table: Table, { table: name, fields }: PublishedCollection): WrittenTable {
  const written = writtenFields(table, fields)
  const isReadBack = fields.some((field) => {
    const column = table.find(field.column)
    return column !== undefined && isReadBackField(field, column)
  })
  return {
    name,
    statement: table.statement ?? '',
    columns: written.map(({ column }) => column),
    defaulted: written
      .filter(({ hasColumnDefault }) => hasColumnDefault)
      .map(({ column }) => column),
    returning: isReadBack || fields.some(({ suppliedAtInsert }) => suppliedAtInsert),
  }
}

function writtenFields(table: Table, fields: readonly PublishedField[]): readonly PublishedField[] {
  return fields.filter(({ column }) => table.find(column)?.isComputed === false)
}
