import type { Connection } from '../../storage/sqlite/connection.ts'
import { foreignKeysOf, type ForeignKey } from '../../storage/sqlite/foreign-keys.ts'
import {
  columnsOf,
  expressionColumn,
  indexesOf,
  listTables,
  type Column,
  type Index,
} from '../../storage/sqlite/tables.ts'
import type { ReferenceDescription } from '../description.ts'

/** A table, view or virtual table of a SQLite database, as its catalogue describes it. */
export interface CatalogueTable {
  readonly name: string
  readonly kind: 'table' | 'view' | 'virtual' | 'shadow'
  readonly withoutRowId: boolean
  /** The CREATE statement. */
  readonly statement: string
  readonly columns: readonly Column[]
  /** Those of all rows, on columns alone. */
  readonly indexes: readonly Index[]
  readonly references: readonly ReferenceDescription[]
  /** Why its columns can't be read, for example because a view names a table that does not exist. */
  readonly failure?: string
}

type Kind = CatalogueTable['kind']

/** Reads the tables of a database, by name. Tables are read together, others one by one, because reading one may fail. */
export function readCatalogue(connection: Connection): readonly CatalogueTable[] {
  const listed = listTables(connection)
  const names = listed.filter(({ kind }) => kind === 'table').map(({ name }) => name)
  const columns = columnsOf(connection, names)
  const indexes = indexesOf(connection, names)
  const references = foreignKeysOf(connection, names)
  return listed.map((table) => {
    const { name, kind } = table
    if (kind !== 'table') {
      const own = columnsAlone(connection, name)
      return { ...table, kind: kind as Kind, ...own, indexes: [], references: [] }
    }
    return {
      ...table,
      kind,
      columns: columns.get(name) ?? [],
      indexes: (indexes.get(name) ?? []).filter(isComplete),
      references: references.filter((one) => one.table === name).map(referenceOf),
    }
  })
}

function columnsAlone(
  connection: Connection,
  name: string,
): Pick<CatalogueTable, 'columns' | 'failure'> {
  try {
    const columns = columnsOf(connection, [name]).get(name) ?? []
    return { columns: columns.filter(({ hidden }) => !hidden) }
  } catch (error) {
    return { columns: [], failure: error instanceof Error ? error.message : String(error) }
  }
}

function isComplete({ partial, columns }: Index): boolean {
  return !partial && columns.every(({ name }) => name !== expressionColumn)
}

function referenceOf(key: ForeignKey): ReferenceDescription {
  return {
    table: key.target,
    columns: key.columns,
    targets: key.targetColumns,
    onDelete: actions[key.onDelete] ?? 'restrict',
    isImmediate: true,
  }
}

const actions: Readonly<Record<string, ReferenceDescription['onDelete']>> = {
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
  'SET DEFAULT': 'setDefault',
}
