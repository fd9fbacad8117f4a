import type { Field } from '../../../definition/field.ts'
import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import { columnTypeOf } from '../../../storage/sqlite/statements/columns.ts'
import type { CatalogueTable } from '../../catalogue-tables.ts'
import { folded } from '../../model.ts'
import { readChecks, type ColumnCheck } from '../../sqlite/checks.ts'
import type { Affinity } from '../../sqlite/column-types.ts'
import {
  impossibleReads,
  impossibleWrites,
  type ImpossibleWrites,
} from '../../sqlite/impossible-writes.ts'
import { candidateFields, declaredLength, type ColumnFacts } from '../../sqlite/published-fields.ts'
import type { CompletedTable, ReadValues, TableCandidates } from '../described-database.ts'
import { unfitJson, type ColumnDescription, type Denied } from '../description.ts'
import { fieldsOfDefault } from './default-fields.ts'
import { withFixedDigits } from './shared-times.ts'
import { countKinds, profileColumns, type ValueProfile } from './value-profile.ts'

/**
 * Returns the fields that the columns of a table or view may be by their values. Columns that call a function of the
 * program that made the file have none.
 */
export function candidatesIn(
  connection: Connection,
  database: ReadValues,
  table: CatalogueTable,
): TableCandidates {
  const reasons = new Map(
    table.columns
      .filter(({ isComputed }) => isComputed)
      .map(({ name }) => [name, impossibleReads(connection, table.name, [name])]),
  )
  const columns = table.columns.filter(({ name }) => reasons.get(name) === undefined)
  const facts = factsOf(connection, { ...table, columns })
  return {
    columns: table.columns.map(({ name }) => {
      const own = facts.get(name)
      if (own === undefined) return { fields: [], note: reasons.get(name) ?? '', hasNull: true }
      const fields = candidateFields(own).filter((field) => keepsValues(field, own.affinity))
      const { allowed } = own.check
      return { fields, hasNull: own.profile.hasNull, ...(allowed && { allowed }) }
    }),
    complete: (described) => complete({ connection, database, table, facts }, described),
  }
}

type Facts = ReadonlyMap<string, ColumnFacts>

function factsOf(connection: Connection, table: CatalogueTable): Facts {
  const { name: tableName, columns, references, kind, statement = '', primary = [] } = table
  const names = columns.map(({ name }) => name)
  const profiles = profileColumns(connection, tableName, names)
  const checks = readChecks(statement, names)
  const links = new Set([...primary, ...references.flatMap((each) => each.columns)].map(folded))
  return new Map(
    columns.map(({ name, declared, base, isComputed }, index) => {
      const facts: ColumnFacts = {
        ...{ name, declared, affinity: base as Affinity },
        check: checks.get(folded(name)) ?? {},
        profile: profiles[index] as ValueProfile,
        isExpression: isComputed || (kind !== 'table' && declared === ''),
        isLink: links.has(folded(name)),
      }
      return [name, facts]
    }),
  )
}

/** Returns whether a column with an affinity keeps the values of a field unchanged, as the start of a service checks. */
function keepsValues(field: Field, affinity: Affinity): boolean {
  if (field.type === 'text' && field.readOnly === true) return true
  const storedAs = 'storedAs' in field ? field.storedAs : undefined
  return columnTypeOf({ type: field.type, storedAs, definition: field }).fits.includes(affinity)
}

/** A table whose columns have candidates. */
interface ProfiledTable {
  readonly connection: Connection
  readonly database: ReadValues
  readonly table: CatalogueTable
  /** What is known of the columns that can be read. */
  readonly facts: Facts
}

/** Adds what SQLite can't write, and the notes. Columns that can't be read come last. */
async function complete(
  profiled: ProfiledTable,
  described: readonly ColumnDescription[],
): Promise<CompletedTable> {
  const { connection, table, facts } = profiled
  const readable = described.filter(({ name }) => facts.has(name))
  const writes = table.kind === 'table' ? writesOf(connection, table, readable) : undefined
  const columns: ColumnDescription[] = []
  for (const column of readable) columns.push(await completeColumn(profiled, column, writes))
  const unread = described.filter(({ name }) => !facts.has(name))
  return {
    columns: [...columns, ...unread],
    denied: writes === undefined ? [] : deniedBy(writes),
  }
}

async function completeColumn(
  { connection, database, table, facts }: ProfiledTable,
  column: ColumnDescription,
  writes: ImpossibleWrites | undefined,
): Promise<ColumnDescription> {
  const { name, declared, numberedBy, fields: possible } = column
  const { check, profile } = facts.get(name) as ColumnFacts
  const byDefault = await fieldsOfDefault(connection, database, table, column)
  // A default that fits no field is not used.
  const fields = byDefault.length > 0 ? byDefault : possible
  const note =
    fields.length > 0
      ? noteOf(declared, fields, check)
      : reasonOf(declared, profile, () => countKinds(connection, table.name, name))
  const noDefault = writes?.defaults.get(name)
  const isUsed = column.default !== undefined && byDefault.length > 0 && noDefault === undefined
  return withFixedDigits(connection, table.name, {
    ...{ ...column, fields, fixed: writes?.columns.get(name) },
    note: note ?? (noDefault && `its default is left out: ${noDefault}`),
    hasDefault: isUsed || numberedBy !== undefined,
  })
}

/** Finds what SQLite can't write, with the columns that can be published. */
function writesOf(
  connection: Connection,
  { name, statement = '' }: CatalogueTable,
  columns: readonly ColumnDescription[],
): ImpossibleWrites {
  const written = columns.filter(({ isComputed, fields }) => !isComputed && fields.length > 0)
  const defaulted = written.flatMap((column) => (column.default === undefined ? [] : [column.name]))
  // Values that SQLite supplies or may convert are read back.
  const isReadBack = columns.some(
    ({ isComputed, numberedBy, fields }) =>
      isComputed ||
      numberedBy !== undefined ||
      fields.some(({ type, readOnly }) => type === 'json' || readOnly === true),
  )
  return impossibleWrites(connection, {
    ...{ name, statement, defaulted },
    columns: written.map((column) => column.name),
    returning: isReadBack || defaulted.length > 0,
  })
}

function deniedBy(writes: ImpossibleWrites): readonly Denied[] {
  const reasons = [['Insert', writes.insert] as const, ['Delete', writes.delete] as const]
  return reasons.flatMap(([event, reason]) =>
    reason === undefined ? [] : [{ events: [event], reason }],
  )
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
  declared: string,
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
