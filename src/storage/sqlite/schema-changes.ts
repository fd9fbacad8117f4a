import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { declaredIndexes, sharedFields, uniqueIndex } from '../sql/wanted-indexes.ts'
import { createIndex, missingIndexes } from './indexes.ts'
import { rebuildStatements } from './rebuild.ts'
import { columnDefinition } from './schema.ts'
import { quoted } from '../sql/fragments.ts'
import { dropSearches, hasSearch, replaceSearch, searchOf } from './search-index.ts'
import { missingTables, misfits } from './table-check.ts'
import { folded } from '../sql/tables.ts'
import type { Table, Tables } from './tables.ts'

/**
 * What a change does. `add`: it creates a table, column or index. `rename`: other programs may know the old
 * name. `rebuild`: it declares columns anew, and copies the table. `drop`: the values of a column are lost.
 */
export type SchemaChangeKind = 'add' | 'rename' | 'rebuild' | 'drop'

/** One change that makes a database fit a definition. */
export interface SchemaChange {
  readonly kind: SchemaChangeKind
  /** The table, by the name that the definition gives it. */
  readonly table: string
  /** A sentence, such as `Adds the column "city" to the table "customers".` */
  readonly description: string
  /** The SQL statements, in order. */
  readonly statements: readonly string[]
}

/** The tables for which changes are planned. */
export interface Planned {
  readonly copy: Connection
  readonly tables: Tables
  readonly collections: readonly PublishedCollection[]
}

/** Plans changes of one sort. */
export type Plan = (planned: Planned) => readonly SchemaChange[]

/** The plans, each for the tables as the ones before it leave them. */
export const plans: readonly Plan[] = [
  renamedTables,
  createdTables,
  renamedColumns,
  addedColumns,
  rebuiltTables,
  searchIndexes,
  droppedColumns,
  createdIndexes,
]

function renamedTables({ copy, tables, collections }: Planned): readonly SchemaChange[] {
  const exists = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?`
  const used = new Set(collections.map(({ table }) => folded(table)))
  return once(collections, ({ table, definition: { renamedFrom: former } }) => {
    if (former === undefined || used.has(folded(former))) return []
    if (tables.find(table) !== undefined) return []
    if (rowsOf(copy, exists, [folded(former)]).length === 0) return []
    return [
      {
        kind: 'rename',
        table,
        description: `Renames the table ${quoted(former)} to ${quoted(table)}.`,
        statements: [`ALTER TABLE ${quoted(former)} RENAME TO ${quoted(table)};`],
      },
    ]
  })
}

function createdTables({ copy, tables, collections }: Planned): readonly SchemaChange[] {
  const awaited = new Set(
    renamedTables({ copy, tables, collections }).map(({ table }) => folded(table)),
  )
  const others = collections.filter(({ table }) => !awaited.has(folded(table)))
  return missingTables(tables, others).map(creation)
}

const created =
  /^CREATE (?:TABLE IF NOT EXISTS|(UNIQUE )?INDEX IF NOT EXISTS "(?:[^"]|"")*" ON) "((?:[^"]|"")*)"/

/** Returns the change of a statement that creates a table or an index. */
function creation(statement: string): SchemaChange {
  const [, unique, name = ''] = created.exec(statement) ?? []
  const table = name.replaceAll('""', '"')
  const index = unique === undefined ? 'an index' : 'a unique index'
  const what = statement.startsWith('CREATE TABLE') ? 'the table' : `${index} of the table`
  const description = `Creates ${what} ${quoted(table)}.`
  return { kind: 'add', table, description, statements: [statement] }
}

function renamedColumns({ tables, collections }: Planned): readonly SchemaChange[] {
  return missingColumnsOf(tables, collections).flatMap(({ table, field, former }) => {
    if (former === undefined) return []
    const [from, to] = [quoted(former), quoted(field.column)]
    return [
      {
        kind: 'rename' as const,
        table,
        description: `Renames the column ${from} of the table ${quoted(table)} to ${to}.`,
        statements: [`ALTER TABLE ${quoted(table)} RENAME COLUMN ${from} TO ${to};`],
      },
    ]
  })
}

function addedColumns({ tables, collections }: Planned): readonly SchemaChange[] {
  return missingColumnsOf(tables, collections).flatMap(({ table, field, former }) => {
    if (former !== undefined || field.inKey || field.hasColumnDefault) return []
    const name = quoted(field.column)
    return [
      {
        kind: 'add' as const,
        table,
        description: `Adds the column ${name} to the table ${quoted(table)}.`,
        statements: [`ALTER TABLE ${quoted(table)} ADD COLUMN ${columnDefinition(field)};`],
      },
    ]
  })
}

interface MissingColumn {
  readonly table: string
  readonly field: PublishedField
  /** The column that has its former name. */
  readonly former: string | undefined
}

function missingColumnsOf(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly MissingColumn[] {
  return bySharedTable(tables, collections).flatMap(({ name, table, sharing }) => {
    const fields = columnsOf(sharing)
    const missing = [...fields].filter(([column]) => !table.columns.has(column))
    return missing.map(([, field]) => {
      const former = field.definition.renamedFrom
      const isFree = former !== undefined && !fields.has(former.toLowerCase())
      const column = isFree ? table.columns.get(former.toLowerCase()) : undefined
      return { table: name, field, former: column?.name }
    })
  })
}

function rebuiltTables({ copy, tables, collections }: Planned): readonly SchemaChange[] {
  return bySharedTable(tables, collections).flatMap(({ name, table, sharing }) => {
    const unfit = misfits(table, sharing)
    const statements =
      unfit.length === 0 ? undefined : rebuildStatements(copy, { name, table, unfit })
    if (statements === undefined) return []
    const columns = unfit.map(({ column }) => quoted(column)).join(', ')
    return [
      {
        kind: 'rebuild' as const,
        table: name,
        description: `Declares ${columns} of the table ${quoted(name)} anew, which copies the table.`,
        statements,
      },
    ]
  })
}

function createdIndexes({ tables, collections }: Planned): readonly SchemaChange[] {
  const keys = collections
    .filter(({ key }) => key.length > 0)
    .map((collection) => uniqueIndex(collection, collection.key))
  const missing = missingIndexes(tables, [...keys, ...collections.flatMap(declaredIndexes)])
  return missing.map(createIndex).map(creation)
}

// Before columns are dropped, because the triggers of an index name them.
function searchIndexes({ tables, collections }: Planned): readonly SchemaChange[] {
  return bySharedTable(tables, collections).flatMap<SchemaChange>(({ name, sharing }) => {
    const wanted = searchOf(sharing, tables)
    const isLeft = tables.searches().some(({ table }) => folded(table) === folded(name))
    const of = `the search index of the table ${quoted(name)}`
    if (wanted !== undefined && !hasSearch(wanted, tables)) {
      const description = `${isLeft ? 'Creates anew' : 'Creates'} ${of}.`
      const statements = replaceSearch(wanted, tables)
      return [{ kind: 'add', table: name, description, statements }]
    }
    if (wanted !== undefined || !isLeft) return []
    const description = `Drops ${of}, which the definition does not declare.`
    const statements = dropSearches(name, tables)
    return [{ kind: 'drop', table: name, description, statements }]
  })
}

function droppedColumns({ copy, tables, collections }: Planned): readonly SchemaChange[] {
  const awaited = new Set(
    missingColumnsOf(tables, collections).map(({ table, former }) => `${folded(table)}\0${former}`),
  )
  return bySharedTable(tables, collections).flatMap(({ name, table, sharing }) => {
    const fields = columnsOf(sharing)
    const unnamed = [...table.columns.values()].filter(
      (column) =>
        !fields.has(column.name.toLowerCase()) && !awaited.has(`${folded(name)}\0${column.name}`),
    )
    return unnamed.map((column) => ({
      kind: 'drop' as const,
      table: name,
      description: `Drops the column ${quoted(column.name)} of the table ${quoted(name)}, which the definition does not name.`,
      statements: [
        ...indexesOf(copy, name, column.name).map((index) => `DROP INDEX ${quoted(index)};`),
        `ALTER TABLE ${quoted(name)} DROP COLUMN ${quoted(column.name)};`,
      ],
    }))
  })
}

// SQLite drops no column that an index contains.
function indexesOf(copy: Connection, table: string, column: string): readonly string[] {
  const select = `SELECT DISTINCT i.name FROM pragma_index_list(?) AS i, pragma_index_xinfo(i.name) AS c
    WHERE i.origin = 'c' AND lower(c.name) = lower(?)`
  return rowsOf(copy, select, [table, column]).map(([name]) => name as string)
}

interface SharedTable {
  readonly name: string
  readonly table: Table
  readonly sharing: readonly PublishedCollection[]
}

/** Returns the existing tables of collections, without views, each with the collections that share it. */
function bySharedTable(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly SharedTable[] {
  return once(collections, ({ table: name }) => {
    const table = tables.find(name)
    if (table?.kind !== 'table') return []
    return [
      { name, table, sharing: collections.filter((each) => folded(each.table) === folded(name)) },
    ]
  })
}

/** Returns the results for one collection of each table. */
function once<Result>(
  collections: readonly PublishedCollection[],
  work: (collection: PublishedCollection) => readonly Result[],
): readonly Result[] {
  const seen = new Set<string>()
  return collections.flatMap((collection) => {
    const name = folded(collection.table)
    if (seen.has(name)) return []
    seen.add(name)
    return work(collection)
  })
}

function columnsOf(sharing: readonly PublishedCollection[]): ReadonlyMap<string, PublishedField> {
  return sharedFields(sharing, (column) => column.toLowerCase())
}
