import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import { foreignKeysOf, type ForeignKey } from '../../sqlite/foreign-keys.ts'
import {
  expressionColumn,
  indexesOf,
  listTables,
  readableColumns,
  type Column,
  type Index,
} from '../../sqlite/tables.ts'
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
  return listed.map((table) => {
    const { name } = table
    const failure = failures.get(name)
    return {
      ...table,
      kind: table.kind as CatalogueTable['kind'],
      columns: (columns.get(name) ?? []).filter(({ hidden }) => !hidden),
      ...(failure === undefined ? {} : { failure }),
      indexes: (indexes.get(name) ?? []).filter(isComplete),
      references: references.filter((one) => one.table === name).map(referenceOf),
    }
  })
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
