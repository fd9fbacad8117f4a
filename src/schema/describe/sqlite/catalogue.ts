import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import type { CatalogueReference, CatalogueTable } from '../../catalogue-tables.ts'
import { finder, folded } from '../../model.ts'
import { foreignKeysOf, type SqliteForeignKey } from '../../sqlite/foreign-keys.ts'
import {
  indexesOf,
  keyColumns,
  listTables,
  readableColumns,
  type ListedTable,
  type SqliteColumn,
  type SqliteIndex,
} from '../../sqlite/read.ts'

/** Reads the tables of a database, by name. */
export function readCatalogue(connection: Connection): readonly CatalogueTable[] {
  const listed = listTables(connection)
  const { columns, failures } = readableColumns(
    connection,
    listed.map(({ name }) => name),
  )
  const names = listed.filter(({ kind }) => kind === 'table').map(({ name }) => name)
  const indexes = indexesOf(connection, names)
  const references = foreignKeysOf(connection, names)
  return listed.map((table) =>
    tableOf(table, {
      columns: columns.get(table.name) ?? [],
      failure: failures.get(table.name),
      indexes: indexes.get(table.name) ?? [],
      references: references.filter((one) => one.table === table.name),
    }),
  )
}

interface Parts {
  readonly columns: readonly SqliteColumn[]
  readonly failure: string | undefined
  readonly indexes: readonly SqliteIndex[]
  readonly references: readonly SqliteForeignKey[]
}

function tableOf(
  { name, kind, statement, withoutRowId }: ListedTable,
  { columns: found, failure, indexes, references }: Parts,
): CatalogueTable {
  const primary = keyColumns(found)
  // INTEGER PRIMARY KEY DESC has an index of its own, and is not the number of the row.
  const isNumbered =
    !withoutRowId && primary.length === 1 && indexes.every(({ origin }) => origin !== 'pk')
  const columns = found
    .filter(({ isHidden }) => !isHidden)
    .map((column) => {
      const { name: own, declared, hasDefault } = column
      const isNumber = isNumbered && own === primary[0] && declared.toUpperCase() === 'INTEGER'
      return {
        ...column,
        hasDefault: hasDefault || isNumber,
        isReadable: true,
        isDeterministic: !/collate/i.test(statement),
        numberedBy: isNumber ? 'SQLite' : undefined,
      }
    })
  return {
    ...{ id: folded(name), schema: 'main', name, statement, columns, find: finder(columns) },
    kind: kind === 'table' || kind === 'view' ? kind : 'other',
    ...{ primary, hasOwnKey: true, checks: [], foreignKeys: [], constraints: new Map() },
    indexes: indexes.filter(isComplete).map(({ unique, columns: parts }) => ({
      unique,
      columns: parts,
    })),
    references: references.map(referenceOf),
    readOnly: kind === 'table' ? undefined : kind === 'view' ? 'a view' : 'a virtual table',
    leftOut: reasonToLeaveOut({ name, kind }, failure),
  }
}

function reasonToLeaveOut(
  { name, kind }: Pick<ListedTable, 'name' | 'kind'>,
  failure: string | undefined,
): string | undefined {
  if (/^sqlite_/i.test(name)) return 'a table of SQLite'
  if (kind === 'shadow') return 'holds the data of a virtual table'
  return failure === undefined ? undefined : `can't be read: ${failure}`
}

// Pages are in the order of an index only if it compares all bytes.
function isComplete({ partial, unique, isBinary }: SqliteIndex): boolean {
  return !partial && (unique || isBinary)
}

function referenceOf({
  target,
  columns,
  targetColumns,
  onDelete,
}: SqliteForeignKey): CatalogueReference {
  return {
    ...{ name: '', columns, target, targetName: target, targetColumns },
    onDelete: actions[onDelete] ?? 'restrict',
  }
}

const actions: Readonly<Record<string, CatalogueReference['onDelete']>> = {
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
  'SET DEFAULT': 'setDefault',
}
