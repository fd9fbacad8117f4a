import type { Field } from '../../definition/field.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection.ts'
import { openReadOnly } from '../../storage/sqlite/open.ts'
import { slowReason, slowViewsNow } from '../../storage/sqlite/slow-views.ts'
import type { Affinity } from '../../storage/sqlite/column-types.ts'
import { columnTypeOf } from '../../storage/sqlite/columns.ts'
import { affinityOf } from '../../storage/sqlite/column-types.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { folded } from '../../storage/sql/tables.ts'
import { encodingMistake, keyColumns, type Column } from '../../storage/sqlite/tables.ts'
import {
  largeRows,
  unfitJson,
  type ColumnDescription,
  type DatabaseDescription,
  type LeftOut,
  type ReadingTable,
  type TableDescription,
} from '../description.ts'
import { readCatalogue, type CatalogueTable } from './catalogue.ts'
import { readChecks, type ColumnCheck } from './checks.ts'
import { withFixedDigits, withSharedMicroseconds } from './shared-times.ts'
import { candidateFields, declaredLength, type ColumnFacts } from './column-fields.ts'
import { spelled, unreachable } from './stored-texts.ts'
import {
  countKinds,
  fieldsOfDefault,
  fittingFields,
  profileColumns,
  type ValueProfile,
} from './value-profile.ts'

/** Milliseconds that reading a view may take. */
const maxViewTime = 60_000

/**
 * Describes a SQLite database. It is opened for reading only, and read in one snapshot. Every value is read, so
 * that each described column has only values that can be published. Throws if the file can't be read.
 *
 * @param viewTime milliseconds that reading a view may take
 */
export function describeSqlite(
  file: string,
  reading: ReadingTable = () => undefined,
  viewTime = maxViewTime,
): DatabaseDescription {
  const connection = openReadOnly(file)
  try {
    const mistake = encodingMistake(connection)
    if (mistake !== undefined) throw new Error(mistake)
    // Defaults are tried out in a temporary table.
    connection.execute('PRAGMA temp_store = MEMORY; BEGIN')
    return describe(connection, reading, viewTime)
  } finally {
    connection.close()
  }
}

function describe(
  connection: Connection,
  reading: ReadingTable,
  viewTime: number,
): DatabaseDescription {
  const tables: TableDescription[] = []
  const leftOut: LeftOut[] = []
  const found = readCatalogue(connection)
  const views = found.filter((table) => table.kind === 'view' && table.failure === undefined)
  const read = views.map(({ name, columns }) => ({
    name,
    columns: columns.map((each) => each.name),
  }))
  const slow = new Set(slowViewsNow(connection, read, viewTime))
  for (const [index, table] of found.entries()) {
    const reason =
      reasonToLeaveOut(table) ??
      (slow.has(table.name) ? unreadable(slowReason(viewTime)) : undefined)
    if (reason !== undefined) leftOut.push({ name: table.name, reason })
    else {
      try {
        if (isLarge(connection, table.name)) reading(table.name, index + 1, found.length)
        tables.push(describeTable(connection, table))
      } catch (error) {
        // For example a function of the application, or a virtual table whose module is not loaded.
        leftOut.push({ name: table.name, reason: unreadable(error) })
      }
    }
  }
  return { tables: withSharedMicroseconds(tables), leftOut }
}

function isLarge(connection: Connection, table: string): boolean {
  const some = `SELECT 1 FROM ${quoted(table)} LIMIT ${largeRows}`
  return Number(rowsOf(connection, `SELECT count(*) FROM (${some})`)[0]?.[0]) >= largeRows
}

function reasonToLeaveOut({ name, kind, failure }: CatalogueTable): string | undefined {
  const [prefix] = /^(?:sqlite|rowgate)_/i.exec(name) ?? []
  if (prefix?.toLowerCase() === 'sqlite_') return 'a table of SQLite'
  if (prefix !== undefined) return 'a table of rowgate'
  if (kind === 'shadow') return 'holds the data of a virtual table'
  if (name === '') return 'its name is empty'
  if (name === '__proto__') return 'its name is reserved by JavaScript'
  return failure === undefined ? undefined : unreadable(failure)
}

function unreadable(error: unknown): string {
  return `can't be read: ${error instanceof Error ? error.message : String(error)}`
}

function describeTable(connection: Connection, table: CatalogueTable): TableDescription {
  const { columns, indexes, references, kind } = table
  const names = columns.map(({ name }) => name)
  const profiles = profileColumns(connection, table.name, names)
  const checks = readChecks(table.statement, names)
  const primary = keyColumns(columns)
  const links = new Set([...primary, ...references.flatMap((each) => each.columns)].map(folded))
  const facts = columns.map<ColumnFacts>(({ name, declared, computed }, index) => ({
    name,
    declared,
    affinity: affinityOf(declared),
    check: checks.get(folded(name)) ?? {},
    profile: profiles[index] as ValueProfile,
    isExpression: computed || (kind !== 'table' && declared === ''),
    isLink: links.has(folded(name)),
  }))
  const candidates = facts.map((each) => ({
    column: each.name,
    fields: candidateFields(each).filter((field) => keepsValues(field, each.affinity)),
  }))
  const fitting = fittingFields(connection, table.name, candidates)
  const nullFree = new Set(facts.filter(({ profile }) => !profile.hasNull).map(({ name }) => name))
  const required = new Set(columns.filter(({ notNull }) => notNull).map(({ name }) => name))
  const uniques = indexes
    .filter(({ unique }) => unique)
    .map((index) => index.columns.map((column) => column.name))
  const generated = rowIdColumn(table, primary)
  const keys = [primary, ...uniques.filter((group) => group.every((name) => required.has(name)))]
  // SQLite accepts null in a primary key.
  const usable = keys.filter((key) => key.length > 0 && key.every((name) => nullFree.has(name)))
  const described = columns.map((column, index) => {
    const possible = fitting[index] ?? []
    const byDefault = fieldsWithDefault(connection, column, possible)
    // A default that fits no field is not used.
    const fields = byDefault.length > 0 ? byDefault : possible
    const { check, profile } = facts[index] as ColumnFacts
    const note =
      fields.length > 0
        ? noteOf(column.declared, fields, check)
        : reasonOf(column, profile, () => countKinds(connection, table.name, column.name))
    const hasDefault = column.default !== undefined && byDefault.length > 0
    const allowed = spelled(connection, table, column.name, check.allowed)
    const own = describeColumn(column, { fields, note, hasDefault, allowed })
    return withFixedDigits(connection, table.name, own)
  })
  return {
    name: table.name,
    ...(kind === 'table' ? {} : { readOnly: kind === 'view' ? 'a view' : 'a virtual table' }),
    columns: described,
    keys: usable,
    unreachable: usable.flatMap((key) =>
      unreachable(
        connection,
        table.name,
        described.filter(({ name }) => key.includes(name)),
      ),
    ),
    ...(generated === undefined ? {} : { generated }),
    uniques,
    indexes: indexes
      .filter(({ origin, isBinary }) => origin === 'c' && isBinary)
      .filter(({ unique }) => !unique)
      .map((index) => index.columns),
    references,
  }
}

/** Returns whether a column with an affinity keeps the values of a field unchanged, as the start of a service checks. */
function keepsValues(field: Field, affinity: Affinity): boolean {
  if (field.type === 'text' && field.readOnly === true) return true
  const storedAs = 'storedAs' in field ? field.storedAs : undefined
  return columnTypeOf({ type: field.type, storedAs, definition: field }).fits.includes(affinity)
}

/** Returns the column whose number SQLite generates. */
function rowIdColumn(table: CatalogueTable, primary: readonly string[]): string | undefined {
  const [name, ...others] = primary
  const column = table.columns.find((each) => each.name === name)
  // INTEGER PRIMARY KEY DESC has an index of its own, and is not the number of the row.
  const isRowId =
    !table.withoutRowId &&
    others.length === 0 &&
    column?.declared.toUpperCase() === 'INTEGER' &&
    table.indexes.every(({ origin }) => origin !== 'pk')
  return isRowId ? name : undefined
}

function fieldsWithDefault(
  connection: Connection,
  { declared, default: value }: Column,
  fields: readonly Field[],
): readonly Field[] {
  if (value === undefined || fields.length === 0) return fields
  return fieldsOfDefault(connection, { affinity: affinityOf(declared), default: value }, fields)
}

function describeColumn(
  { name, notNull, computed }: Column,
  { fields, note, hasDefault, allowed }: Found,
): ColumnDescription {
  return {
    ...{ name, fields, nullable: !notNull, hasDefault, computed },
    ...(note === undefined ? {} : { note }),
    ...(allowed === undefined ? {} : { allowed }),
  }
}

interface Found extends Pick<ColumnDescription, 'fields' | 'hasDefault'> {
  readonly note: string | undefined
  readonly allowed: ColumnDescription['allowed'] | undefined
}

function noteOf(
  declared: string,
  [field]: ColumnDescription['fields'],
  { isJson }: ColumnCheck,
): string | undefined {
  if (field?.type !== 'text') return undefined
  if (isJson === true) return `text: ${unfitJson}`
  if (field.readOnly === true)
    return `read-only: it is declared ${declared}, so SQLite would change strings that look like numbers`
  const isLonger = declaredLength(declared) !== field.maxLength
  return isLonger ? `is declared ${declared}, but has longer values` : undefined
}

/** Returns why a column can't be published. */
function reasonOf(
  { declared }: Column,
  { kinds }: ValueProfile,
  count: () => readonly string[],
): string {
  const [smallest, largest] = kinds
  if (smallest !== largest) return `holds values of several kinds: ${count().join(', ')}`
  switch (smallest) {
    case 'blob':
      return 'holds blobs'
    case 'text':
      return 'holds strings with U+0000 or invalid UTF-8'
    case 'number':
      return `holds numbers that no field can hold: ${count().join(', ')}`
    case 'null':
      return `is declared ${declared}, and has no value that shows what it holds`
  }
}
