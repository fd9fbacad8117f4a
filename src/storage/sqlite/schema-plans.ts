import type { PublishedCollection } from '../../definition/published.ts'
import { quoted } from '../sql/fragments.ts'
import {
  creation,
  redeclaration,
  searchCreation,
  searchDrop,
  sharedTables,
  withFormerTables,
  type Draft,
  type DraftTable,
  type Plan,
  type PlannedChange,
} from '../sql/schema-changes.ts'
import {
  addedColumns,
  droppedColumns,
  renamedColumns,
  renamedTables,
  withoutAwaited,
} from '../sql/shared-plans.ts'
import { folded } from '../sql/tables.ts'
import { declaredIndexes, uniqueIndex } from '../sql/wanted-indexes.ts'
import { rowsOf, type Connection } from './connection.ts'
import { createIndex, missingIndexes } from './indexes.ts'
import { rebuildStatements } from './rebuild.ts'
import { columnDefinition } from './schema.ts'
import { dropSearches, hasSearch, replaceSearch, searchOf } from './search-index.ts'
import { missingTables, misfits } from './table-check.ts'
import { readTables, type Table, type Tables } from './tables.ts'

interface FoundTable extends DraftTable {
  readonly found: Table
}

/** The tables of an empty copy of the database. */
export interface SqliteDraft extends Draft {
  readonly copy: Connection
  readonly tables: Tables
  find(name: string): FoundTable | undefined
}

/** The plans for SQLite. Search indexes precede dropped columns, because their triggers name columns. */
export const plans: readonly Plan<SqliteDraft>[] = [
  renamedTables,
  createdTables,
  renamedColumns,
  addedColumns,
  rebuiltTables,
  searchIndexes,
  droppedColumns,
  createdIndexes,
]

/** Returns the tables of a copy as they are now. */
export function draftOf(
  copy: Connection,
  collections: readonly PublishedCollection[],
): SqliteDraft {
  const tables = readTables(copy, withFormerTables(collections))
  return {
    copy,
    tables,
    collections,
    find(name) {
      const found = tables.find(name)
      return found && { found, kind: found.kind, columns: [...found.columns.values()] }
    },
    quoted,
    foldedColumn: (name) => name.toLowerCase(),
    columnDefinition: (_, field) => columnDefinition(field),
    // SQLite drops no column that an index contains.
    dropColumn: (table, column) => [
      ...indexesOf(copy, table, column).map((index) => `DROP INDEX ${quoted(index)};`),
      `ALTER TABLE ${quoted(table)} DROP COLUMN ${quoted(column)};`,
    ],
  }
}

function createdTables(draft: SqliteDraft): readonly PlannedChange[] {
  return missingTables(draft.tables, withoutAwaited(draft)).map((each) => created(draft, each))
}

const create =
  /^CREATE (?:TABLE IF NOT EXISTS|(UNIQUE )?INDEX IF NOT EXISTS "(?:[^"]|"")*" ON) "((?:[^"]|"")*)"/

/** Returns the change of a statement that creates a table or an index. */
function created(draft: SqliteDraft, statement: string): PlannedChange {
  const [, unique, name = ''] = create.exec(statement) ?? []
  const index = unique === undefined ? 'index' : 'unique index'
  const is = statement.startsWith('CREATE TABLE') ? 'table' : index
  return creation(draft, name.replaceAll('""', '"'), { is, statement })
}

function rebuiltTables(draft: SqliteDraft): readonly PlannedChange[] {
  return sharedTables<FoundTable>(draft).flatMap(({ name, table: { found: table }, sharing }) => {
    const unfit = misfits(table, sharing)
    const statements =
      unfit.length === 0 ? undefined : rebuildStatements(draft.copy, { name, table, unfit })
    if (statements === undefined) return []
    const columns = unfit.map(({ column }) => column)
    return [redeclaration(draft, name, { columns, statements })]
  })
}

function createdIndexes(draft: SqliteDraft): readonly PlannedChange[] {
  const { tables, collections } = draft
  const keys = collections
    .filter(({ key }) => key.length > 0)
    .map((collection) => uniqueIndex(collection, collection.key))
  const missing = missingIndexes(tables, [...keys, ...collections.flatMap(declaredIndexes)])
  return missing.map((index) => created(draft, createIndex(index)))
}

function searchIndexes(draft: SqliteDraft): readonly PlannedChange[] {
  const { tables } = draft
  return sharedTables(draft).flatMap<PlannedChange>(({ name, sharing }) => {
    const wanted = searchOf(sharing, tables)
    const isLeft = tables.searches().some(({ table }) => folded(table) === folded(name))
    if (wanted !== undefined && !hasSearch(wanted, tables)) {
      const statements = replaceSearch(wanted, tables)
      return [searchCreation(draft, name, { isLeft, statements })]
    }
    if (wanted !== undefined || !isLeft) return []
    return [searchDrop(draft, name, dropSearches(name, tables))]
  })
}

function indexesOf(copy: Connection, table: string, column: string): readonly string[] {
  const select = `SELECT DISTINCT i.name FROM pragma_index_list(?) AS i, pragma_index_xinfo(i.name) AS c
    WHERE i.origin = 'c' AND lower(c.name) = lower(?)`
  return rowsOf(copy, select, [table, column]).map(([name]) => name as string)
}
