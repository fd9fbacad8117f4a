import type { PublishedCollection, PublishedField } from '../../definition/published.ts'
import { columnTypeOf, type Affinity } from './columns.ts'
import { rowsOf, type Connection } from './connection.ts'
import {
  bareColumn,
  columnDefinition,
  createTables,
  hasColumn,
  otherCheck,
  quoted,
} from './schema.ts'

interface Column {
  readonly name: string
  readonly declared: string
  /** Its position in the primary key, from 1. 0: not part of it. */
  readonly keyPlace: number
}

interface Table {
  readonly kind: string
  readonly strict: boolean
  /** The CREATE statement. */
  readonly statement: string
  readonly withoutRowId: boolean
  readonly columns: ReadonlyMap<string, Column>
  /** The columns of each unique index that covers every row. */
  readonly uniques: readonly ReadonlySet<string>[]
}

/** Compares tables with their collections. Returns one message for each mistake. */
export function tableMistakes(
  connection: Connection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  return collections.flatMap((collection) => {
    const table = readTable(connection, collection.table)
    if (table !== undefined) {
      const fields = collection.fields.flatMap((field) => columnMistakes(collection, field, table))
      return [...fields, ...keyMistakes(collection, table)]
    }
    const statement = createTables([collection]).join('')
    return [
      `${placeOf(collection)}: the table ${quoted(collection.table)} does not exist. Set "table" to the right name, create it with\n${statement}\nor set the option ensureSchema.`,
    ]
  })
}

/**
 * Returns the fields whose columns accept only values that fit: the table is STRICT, and the column has
 * the CHECK that {@link columnDefinition} writes.
 */
export function guaranteedFields(
  connection: Connection,
  collections: readonly PublishedCollection[],
): readonly PublishedField[] {
  return collections.flatMap((collection) => {
    const table = readTable(connection, collection.table)
    if (table?.strict !== true) return []
    return collection.fields.filter((field) => hasColumn(table.statement, field))
  })
}

/** Returns the statements that create the missing tables. */
export function missingTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const missing = collections.filter(({ table }) => readTable(connection, table) === undefined)
  return createTables(missing)
}

/** Returns the statements that add missing columns. Columns of a key can't be added. */
export function missingColumns(
  connection: Connection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const statements = collections.flatMap((collection) => {
    const table = readTable(connection, collection.table)
    if (table?.kind !== 'table') return []
    return collection.fields
      .filter((field) => !field.inKey && !table.columns.has(field.column.toLowerCase()))
      .map((field) => addColumn(collection, field))
  })
  // Collections may share a table.
  return [...new Set(statements)]
}

function addColumn({ table }: PublishedCollection, field: PublishedField): string {
  return `ALTER TABLE ${quoted(table)} ADD COLUMN ${columnDefinition(field)};`
}

function columnMistakes(
  collection: PublishedCollection,
  field: PublishedField,
  table: Table,
): readonly string[] {
  const place = placeOf(collection, field)
  const where = `table ${quoted(collection.table)}`
  const column = table.columns.get(field.column.toLowerCase())
  if (column === undefined) {
    return [
      `${place}: ${where} has no column ${quoted(field.column)}. Set "column" to the right name, or add it with\n${addColumn(collection, field)}`,
    ]
  }
  const affinity = affinityOf(column.declared)
  if (columnTypeOf(field).fits.includes(affinity)) {
    const other = otherCheck(table.statement, field)
    if (other === undefined) return []
    return [
      `${place}: column ${quoted(column.name)} of ${where} has a CHECK for another definition of the field, with type ${other}. Rebuild the table with\n${columnDefinition(field)}`,
    ]
  }
  return [
    `${place}: column ${quoted(column.name)} of ${where} is declared ${column.declared}, which would change values of type ${field.type}. Declare it ${bareColumn(field)}, or give the field another type.`,
  ]
}

function keyMistakes(collection: PublishedCollection, table: Table): readonly string[] {
  const { key } = collection
  if (table.kind === 'view') {
    const writes = [...collection.publishes].filter((event) => event !== 'Filter')
    if (writes.length === 0) return []
    return [
      `${placeOf(collection)}: ${quoted(collection.table)} is a view, which can't be written. Set publishes: ['Filter'].`,
    ]
  }
  if (key.length === 0) return []
  const names = key.map((field) => field.column.toLowerCase())
  const columns = key.map((field) => quoted(field.column)).join(', ')
  const isUnique = table.uniques.some(
    (unique) => unique.size === names.length && names.every((name) => unique.has(name)),
  )
  if (!isUnique) {
    const create = `CREATE UNIQUE INDEX ${quoted(`${collection.table}_key`)} ON ${quoted(collection.table)} (${columns});`
    return [
      `${placeOf(collection)}: the key (${columns}) of table ${quoted(collection.table)} has no unique index. Create one with\n${create}`,
    ]
  }
  const [first] = key
  if (first?.generated !== 'database' || isRowId(first, table)) return []
  return [
    `${placeOf(collection, first)}: column ${quoted(first.column)} of table ${quoted(collection.table)} is not numbered by SQLite. Declare it INTEGER PRIMARY KEY, or remove generated: 'database'.`,
  ]
}

function isRowId(field: PublishedField, table: Table): boolean {
  const column = table.columns.get(field.column.toLowerCase())
  const keyColumns = [...table.columns.values()].filter(({ keyPlace }) => keyPlace > 0)
  return (
    !table.withoutRowId &&
    keyColumns.length === 1 &&
    keyColumns[0] === column &&
    column?.declared.toUpperCase() === 'INTEGER'
  )
}

function placeOf(collection: PublishedCollection, field?: PublishedField): string {
  const place = `${collection.application}/${collection.name}`
  return field === undefined ? place : `${place}.${field.name}`
}

function readTable(connection: Connection, name: string): Table | undefined {
  const [found] = rowsOf(
    connection,
    `SELECT name, type, wr, strict, (SELECT sql FROM sqlite_schema AS s WHERE s.name = l.name AND s.type = l.type)
     FROM pragma_table_list AS l WHERE schema = 'main' AND lower(name) = lower(?)`,
    [name],
  )
  if (found === undefined) return undefined
  const [table, kind, withoutRowId, strict, statement] = found as readonly [
    string,
    string,
    number,
    number,
    string | null,
  ]
  const columns = rowsOf(connection, 'SELECT name, type, pk FROM pragma_table_xinfo(?)', [table])
  const described = columns.map(([column, declared, keyPlace]) => ({
    name: column as string,
    declared: declared as string,
    keyPlace: keyPlace as number,
  }))
  const primary = described.filter(({ keyPlace }) => keyPlace > 0)
  const indexes = rowsOf(
    connection,
    `SELECT i.name, lower(c.name) FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c
     WHERE i."unique" = 1 AND i.partial = 0`,
    [table],
  )
  const uniques = new Map<string, Set<string>>()
  if (primary.length > 0) uniques.set('', new Set(primary.map((column) => lower(column.name))))
  for (const [index, column] of indexes as readonly (readonly [string, string | null])[]) {
    const known = uniques.get(index) ?? new Set<string>()
    // The name of an expression is null. It must not match any column.
    uniques.set(index, known.add(column ?? '\0'))
  }
  return {
    kind,
    strict: strict === 1,
    statement: statement ?? '',
    withoutRowId: withoutRowId === 1,
    columns: new Map(described.map((column) => [lower(column.name), column])),
    uniques: [...uniques.values()],
  }
}

function lower(name: string): string {
  return name.toLowerCase()
}

/** Returns the affinity of a declared type, by the rules of SQLite in their order. */
function affinityOf(declared: string): Affinity {
  const type = declared.toUpperCase()
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type === '' || type.includes('BLOB')) return 'BLOB'
  return /REAL|FLOA|DOUB/.test(type) ? 'REAL' : 'NUMERIC'
}
