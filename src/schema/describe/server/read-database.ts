import type { Field } from '../../../definition/field.ts'
import type { CatalogueColumn, CatalogueReference, CatalogueTable } from '../../catalogue-tables.ts'
import type { Connection } from '../../../storage/pool/connection.ts'
import {
  isCut,
  type ColumnDescription,
  type DatabaseDescription,
  type LeftOut,
  type ReadingTable,
  type ReferenceDescription,
  type TableDescription,
} from '../description.ts'
import type { Candidates } from './candidates.ts'
import { fittingFields, readFirstRow } from './fitting-fields.ts'
import { deniedIn, deniedOf } from './role-rights.ts'
import type { AllowedValues, ServerCatalogue } from './server-catalogue.ts'
import { textsOf } from './stored-texts.ts'

/**
 * Describes the tables of a schema of a database server in one snapshot. Columns whose type allows values that their
 * field can't hold, such as `infinity`, are read.
 */
export async function describeServer(
  connection: Connection,
  catalogue: ServerCatalogue,
  { schema, isNamed, reading }: DescribedTables,
): Promise<DatabaseDescription> {
  const undeletable = await catalogue.undeletable?.(connection, schema)
  await connection.command(catalogue.begin)
  try {
    const read = await catalogue.readTables(connection, schema)
    const found = read.map((table) =>
      undeletable?.has(table.name) === true ? { ...table, isDeletable: false } : table,
    )
    return await describeTables(
      connection,
      catalogue,
      found.filter(({ name }) => isNamed(name)),
      reading,
    )
  } finally {
    await connection.command('rollback')
  }
}

/** The tables that are described. */
export interface DescribedTables {
  readonly schema: string
  isNamed(table: string): boolean
  readonly reading: ReadingTable
}

async function describeTables(
  connection: Connection,
  catalogue: ServerCatalogue,
  found: readonly CatalogueTable[],
  reading: ReadingTable,
): Promise<DatabaseDescription> {
  const names = new Map(found.map(({ id, name }) => [id, name]))
  const tables: TableDescription[] = []
  const leftOut: LeftOut[] = []
  for (const [index, table] of found.entries()) {
    const described =
      reasonToLeaveOut(table) ??
      (await describeReadable(connection, catalogue, {
        table,
        names,
        reading: () => {
          reading(table.name, index + 1, found.length)
        },
      }))
    if (typeof described === 'string') leftOut.push({ name: table.name, reason: described })
    else tables.push(described)
  }
  return { tables, leftOut }
}

/**
 * Describes a table. Returns the reason to leave it out if it is a view, a table of another engine, or a foreign table
 * that the server can't read.
 */
async function describeReadable(
  connection: Connection,
  catalogue: ServerCatalogue,
  found: FoundTable,
): Promise<TableDescription | string> {
  const { readOnly, unwritable } = found.table
  if (readOnly === undefined && unwritable === undefined)
    return describeTable(connection, catalogue, found)
  const { needsSavepoints } = catalogue
  if (needsSavepoints) await connection.command('savepoint described')
  try {
    // Not every column is of a type whose values are read.
    await readFirstRow(connection, catalogue, found.table)
    return await describeTable(connection, catalogue, found)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // Rejects if the connection is lost; otherwise the end of the transaction does.
    if (needsSavepoints) await connection.command('rollback to described')
    return `can't be read: ${error.message}`
  }
}

function reasonToLeaveOut({ name, columns, leftOut }: CatalogueTable): string | undefined {
  if (/^rowgate_/i.test(name)) return 'a table of rowgate'
  if (name === '__proto__') return 'its name is reserved by JavaScript'
  if (leftOut !== undefined) return leftOut
  if (columns.length > 0 && !columns.some(({ isReadable }) => isReadable))
    return "the role can't read it"
  return undefined
}

async function describeTable(
  connection: Connection,
  catalogue: ServerCatalogue,
  { table, names, reading }: FoundTable,
): Promise<TableDescription> {
  const { columns, indexes, primary, references, readOnly } = table
  const uniques = indexes
    .filter(({ unique }) => unique)
    .flatMap((index) => {
      const group = index.columns.map(({ name }) => name)
      return group.every((name) => name !== null) ? [group] : []
    })
    .toSorted((left, right) => Number(isSame(right, primary)) - Number(isSame(left, primary)))
  const required = new Set(columns.filter(({ notNull }) => notNull).map(({ name }) => name))
  const keys = uniques.filter((group) => group.every((name) => required.has(name)))
  const links = new Set([...(keys[0] ?? []), ...references.flatMap((key) => key.columns)])
  const candidates = columns.map((column) =>
    column.isReadable
      ? catalogue.candidates(column, links.has(column.name))
      : { fields: [], note: "the role can't read it" },
  )
  const fitting = await fittingFields(connection, catalogue, { table, candidates, reading })
  const texts = textsOf(connection, catalogue, table)
  const allowed = new Map<string, AllowedValues['values'] | undefined>()
  for (const { column, values } of table.checks.flatMap(
    (check) => catalogue.allowedBy(check) ?? [],
  )) {
    const own = columns.find(({ name, isReadable }) => name === column && isReadable)
    if (own !== undefined) allowed.set(column, await texts.spelled(own, values))
  }
  const described = columns.map((column, index) =>
    describeColumn(column, {
      candidates: candidates[index] as Candidates,
      fields: fitting[index] ?? [],
      allowed: column.labels ?? allowed.get(column.name),
    }),
  )
  const unreachable = await Promise.all(
    keys.map((key) =>
      texts.unreachable(
        key.map((name) => described.find((column) => column.name === name) as ColumnDescription),
      ),
    ),
  )
  const generated = keys[0]?.length === 1 ? numberedColumn(columns, described, keys[0]) : undefined
  return {
    name: table.name,
    ...(readOnly === undefined ? {} : { readOnly }),
    ...deniedOf(table),
    columns: described.map((column, index) =>
      columns[index]?.isFixed === true && column.name !== generated
        ? { ...column, computed: true }
        : column,
    ),
    keys,
    unreachable: unreachable.flat(),
    ...(generated === undefined ? {} : { generated }),
    uniques: uniques.filter((group) => group.every((name) => isExact(described, name))),
    indexes: indexes.flatMap((index) => {
      const parts = index.columns.flatMap(({ name, descending }) =>
        name === null ? [] : [{ name, descending }],
      )
      return index.unique || parts.length < index.columns.length ? [] : [parts]
    }),
    references: references.map((key) => referenceOf(key, { table, names })),
  }
}

/** A table, and the names of all tables by their ids. */
interface FoundTable {
  readonly table: CatalogueTable
  readonly names: ReadonlyMap<string, string>
  /** Called before all rows are read, if they are many. */
  readonly reading: () => void
}

function describeColumn(
  column: CatalogueColumn,
  { candidates, fields, allowed }: FoundColumn,
): ColumnDescription {
  const { name, notNull, hasDefault, isDefaultUsable = true, isComputed } = column
  const { fields: all, note, noteInPages, lastNote } = candidates
  const [first] = fields
  const isLast = first !== undefined && first === all.at(-1)
  const reason = isLast ? (lastNote ?? note) : note
  const noteOfColumn =
    first === undefined
      ? (reason ?? 'some of its values, such as strings with U+0000, fit no type')
      : reason
  return {
    name,
    fields,
    ...(noteOfColumn === undefined ? {} : { note: noteOfColumn }),
    ...(noteInPages === undefined || isLast ? {} : { noteInPages }),
    nullable: !notNull,
    hasDefault: hasDefault && isDefaultUsable,
    computed: isComputed,
    ...deniedIn(column),
    ...(allowed === undefined ? {} : { allowed }),
  }
}

/** What reading a table has shown of a column. */
interface FoundColumn {
  readonly candidates: Candidates
  /** The candidates that all values fit. */
  readonly fields: readonly Field[]
  readonly allowed: readonly (string | number)[] | undefined
}

function numberedColumn(
  columns: readonly CatalogueColumn[],
  described: readonly ColumnDescription[],
  [name = '']: readonly string[],
): string | undefined {
  const index = columns.findIndex((each) => each.name === name)
  const { numberedBy } = columns[index] as CatalogueColumn
  const hasDefault = described[index]?.hasDefault === true
  const isNumber = described[index]?.fields.some(({ type }) => ['integer', 'bigint'].includes(type))
  return isNumber && numberedBy !== undefined && hasDefault ? name : undefined
}

function isSame(group: readonly string[], primary: readonly string[] | undefined): boolean {
  return group.join('\0') === primary?.join('\0')
}

// Values that differ only after the milliseconds are equal for clients.
function isExact(columns: readonly ColumnDescription[], name: string): boolean {
  return !isCut(columns.find((each) => each.name === name)?.fields[0])
}

function referenceOf(
  { name, target, targetName, columns, targetColumns: targets, onDelete }: CatalogueReference,
  { table, names }: Pick<FoundTable, 'table' | 'names'>,
): ReferenceDescription {
  const isImmediate = table.foreignKeys.some((key) => key.name === name)
  return { table: names.get(target) ?? targetName, columns, targets, onDelete, isImmediate }
}
