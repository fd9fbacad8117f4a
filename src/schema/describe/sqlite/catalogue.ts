import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import type { CatalogueReference, CatalogueTable } from '../../catalogue-tables.ts'
import { finder, folded } from '../../model.ts'
import { affinityOf } from '../../sqlite/column-types.ts'
import { foreignKeysOf, type ForeignKey } from '../../sqlite/foreign-keys.ts'
import {
  expressionColumn,
  indexesOf,
  keyColumns,
  listTables,
  readableColumns,
  type Column,
  type Index,
  type ListedTable,
} from '../../sqlite/tables.ts'

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
  readonly columns: readonly Column[]
  readonly failure: string | undefined
  readonly indexes: readonly Index[]
  readonly references: readonly ForeignKey[]
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
    .filter(({ hidden }) => !hidden)
    .map((column) => {
      const { declared, default: value, notNull, computed } = column
      const isNumber =
        isNumbered && column.name === primary[0] && declared.toUpperCase() === 'INTEGER'
      return {
        ...{ name: column.name, declared, base: affinityOf(declared), scale: undefined, notNull },
        ...{ default: value, hasDefault: value !== undefined || isNumber, isComputed: computed },
        ...{ isReadable: true, collation: undefined, isDeterministic: !/collate/i.test(statement) },
        numberedBy: isNumber ? 'SQLite' : undefined,
      }
    })
  return {
    ...{ id: folded(name), schema: 'main', name, statement, columns, find: finder(columns) },
    kind: kind === 'table' || kind === 'view' ? kind : 'other',
    ...{ primary, hasOwnKey: true, checks: [], foreignKeys: [], constraints: new Map() },
    indexes: indexes.filter(isComplete).map(({ unique, columns: parts }) => ({
      unique,
      columns: parts.map((part) => ({
        ...part,
        name: part.name === expressionColumn ? null : part.name,
      })),
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
function isComplete({ partial, unique, isBinary }: Index): boolean {
  return !partial && (unique || isBinary)
}

function referenceOf({ target, columns, targetColumns, onDelete }: ForeignKey): CatalogueReference {
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
