import type { Field } from '../../../definition/field.ts'
import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import { affinityOf, type Affinity } from '../../sqlite/column-types.ts'
import { columnTypeOf } from '../../../storage/sqlite/statements/columns.ts'
import {
  impossibleReads,
  impossibleWrites,
  type ImpossibleWrites,
} from '../../sqlite/impossible-writes.ts'
import { folded } from '../../model.ts'
import { keyColumns, type Column } from '../../sqlite/tables.ts'
import {
  unfitJson,
  type ColumnDescription,
  type Denied,
  type TableDescription,
} from '../description.ts'
import type { CatalogueTable } from './catalogue.ts'
import { readChecks, type ColumnCheck } from './checks.ts'
import { withFixedDigits } from './shared-times.ts'
import { candidateFields, declaredLength, type ColumnFacts } from './column-fields.ts'
import { spelled, unreachable } from './stored-texts.ts'
import {
  countKinds,
  fieldsOfDefault,
  fittingFields,
  profileColumns,
  type ValueProfile,
} from './value-profile.ts'

/** Describes a table or view. Columns that call a function of the program that made the file are left out. */
export function describeTable(connection: Connection, table: CatalogueTable): TableDescription {
  const reasons = new Map(
    table.columns
      .filter(({ computed }) => computed)
      .map(({ name }) => [name, impossibleReads(connection, table.name, [name])]),
  )
  const isReadable = ({ name }: Column): boolean => reasons.get(name) === undefined
  const columns = table.columns.filter(isReadable)
  const described = describeReadable(connection, { ...table, columns })
  const unread = table.columns
    .filter((column) => !isReadable(column))
    .map(({ name }) => ({
      ...{ name, fields: [], note: reasons.get(name) ?? '' },
      ...{ nullable: true, hasDefault: true, computed: true },
    }))
  return { ...described, columns: [...described.columns, ...unread] }
}

function describeReadable(connection: Connection, table: CatalogueTable): TableDescription {
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
  const writes = kind === 'table' ? writesOf(connection, table, { fitting, generated }) : undefined
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
    const noDefault = writes?.defaults.get(column.name)
    const hasDefault =
      column.default !== undefined && byDefault.length > 0 && noDefault === undefined
    const own = describeColumn(column, {
      ...{ fields, hasDefault },
      note: note ?? (noDefault && `its default is left out: ${noDefault}`),
      fixed: writes?.columns.get(column.name),
      allowed: spelled(connection, table, column.name, check.allowed),
    })
    return withFixedDigits(connection, table.name, own)
  })
  return {
    name: table.name,
    ...(kind === 'table' ? {} : { readOnly: kind === 'view' ? 'a view' : 'a virtual table' }),
    ...(writes === undefined ? {} : { denied: deniedBy(writes) }),
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

/** Finds what SQLite can't write, with the columns that can be published. */
function writesOf(
  connection: Connection,
  { name, statement, columns }: CatalogueTable,
  {
    fitting,
    generated,
  }: { readonly fitting: readonly (readonly Field[])[]; readonly generated: string | undefined },
): ImpossibleWrites {
  const written = columns.filter(
    ({ computed }, index) => !computed && (fitting[index]?.length ?? 0) > 0,
  )
  const defaulted = written.flatMap((column) => (column.default === undefined ? [] : [column.name]))
  // Values that SQLite supplies or may convert are read back.
  const isReadBack =
    columns.some(({ computed }) => computed) ||
    fitting.flat().some(({ type, readOnly }) => type === 'json' || readOnly === true)
  return impossibleWrites(connection, {
    ...{ name, statement },
    columns: written.map((column) => column.name),
    defaulted,
    returning: isReadBack || generated !== undefined || defaulted.length > 0,
  })
}

function deniedBy(writes: ImpossibleWrites): readonly Denied[] {
  const reasons = [['Insert', writes.insert] as const, ['Delete', writes.delete] as const]
  return reasons.flatMap(([event, reason]) =>
    reason === undefined ? [] : [{ events: [event], reason }],
  )
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
  { fields, note, fixed, hasDefault, allowed }: Found,
): ColumnDescription {
  return {
    ...{ name, fields, nullable: !notNull, hasDefault, computed },
    ...(note === undefined ? {} : { note }),
    ...(fixed === undefined ? {} : { fixed }),
    ...(allowed === undefined ? {} : { allowed }),
  }
}

interface Found extends Pick<ColumnDescription, 'fields' | 'hasDefault'> {
  readonly note: string | undefined
  readonly fixed: string | undefined
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
