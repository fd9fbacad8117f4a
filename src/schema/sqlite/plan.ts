import type { PublishedCollection } from '../../definition/published.ts'
import { quoted } from '../../storage/sql/fragments.ts'
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
} from '../changes.ts'
import {
  addedColumns,
  droppedColumns,
  filledColumns,
  renamedColumns,
  renamedTables,
  requiredColumns,
  withoutAwaited,
} from '../shared-plans.ts'
import { mayBeNull, type Lacking } from '../required-columns.ts'
import { folded } from '../model.ts'
import { declaredIndexes, uniqueIndex } from '../wanted-indexes.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { createIndex, missingIndexes } from './indexes.ts'
import { nullStatements, rebuildStatements } from './rebuild.ts'
import { columnDefinition, isWrittenNotNull } from './statements.ts'
import { literalOf } from './column-values.ts'
import { dropSearches, hasSearch, replaceSearch, searchOf } from './search-index.ts'
import { fitsColumn, missingTables, misfits } from './table-check.ts'
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
  (draft) => [...filledColumns(draft), ...nullChanges(draft)],
  searchIndexes,
  droppedColumns,
  createdIndexes,
]

/** Returns the tables of a copy as they are now. */
export function draftOf(
  copy: Connection,
  collections: readonly PublishedCollection[],
  lacking: Lacking,
): SqliteDraft {
  const tables = readTables(copy, withFormerTables(collections))
  return {
    copy,
    tables,
    collections,
    find(name) {
      const found = tables.find(name)
      return found && { found, name, kind: found.kind, columns: [...found.columns.values()] }
    },
    quoted,
    identityOf: folded,
    columnIdentity: () => folded,
    columnDefinition: (_, field) => columnDefinition(field),
    lacking,
    literal(table, field, value) {
      const found = tables.find(table)
      const isMissing = found?.columns.has(folded(field.column)) !== true
      return isMissing || fitsColumn(field, found) ? literalOf(field, value) : undefined
    },
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

function nullChanges(draft: SqliteDraft): readonly PlannedChange[] {
  return sharedTables<FoundTable>(draft).flatMap((shared) => {
    const { name, table, sharing } = shared
    const own = [...table.found.columns.values()].filter(({ computed }) => !computed)
    const allowsNull = new Set(own.flatMap((each) => (each.notNull ? [] : [each.name])))
    const required = requiredColumns(draft, shared, (column) => allowsNull.has(column))
      .filter(({ field }) => fitsColumn(field, table.found))
      .map(({ column }) => column)
    const nullable = own
      .filter((each) => each.notNull && each.keyPlace === 0 && each.default === undefined)
      .filter((each) => {
        const fields = sharing
          .flatMap((one) => one.fields)
          .filter(({ column }) => folded(column) === folded(each.name))
        // That of another program stays.
        const isOwn = fields.some((field) => isWrittenNotNull(table.found.statement, field))
        return isOwn && mayBeNull(sharing, fields)
      })
      .map((each) => each.name)
    const rebuilt = (
      kind: 'require' | 'rebuild',
      columns: readonly string[],
    ): readonly PlannedChange[] => {
      const rejectsNull = kind === 'require'
      const change = { name, table: table.found, columns, rejectsNull, sharing }
      const statements = columns.length === 0 ? undefined : nullStatements(draft.copy, change)
      if (statements === undefined) return []
      const does = rejectsNull ? 'Rejects' : 'Allows'
      const reason = rejectsNull ? 'the definition requires' : 'the definition does not require'
      const listed = columns.map(quoted).join(', ')
      const description = `${does} null in ${listed} of the table ${quoted(name)}, which ${reason}. This copies the table.`
      return [{ kind, table: name, description, statements }]
    }
    return [...rebuilt('rebuild', nullable), ...rebuilt('require', required)]
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
