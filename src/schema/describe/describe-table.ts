import type { Field } from '../../definition/field.ts'
import { raw, sql } from '../../storage/sql/fragments.ts'
import type { AllowedValues } from './allowed-values.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { Candidates } from './candidates.ts'
import type { DescribedDatabase, ReadValues } from './described-database.ts'
import {
  largeRows,
  uniqueGroups,
  writeEvents,
  type ColumnDescription,
  type Denied,
  type TableDescription,
  type WriteEvent,
} from './description.ts'
import { fittingFields } from './fitting-fields.ts'
import { spelled, unreachableRows } from './stored-texts.ts'

/**
 * Describes a table or view.
 *
 * @param announce called before all rows are read, if they are many
 */
export async function describeTable(
  database: DescribedDatabase,
  table: CatalogueTable,
  announce: () => void,
): Promise<TableDescription> {
  let announced: Promise<void> | undefined
  const announceOnce = (): Promise<void> =>
    (announced ??= isLarge(database, table).then((large) => (large ? announce() : undefined)))
  const { columns: candidates, complete } = await database.candidatesIn(table, announceOnce)
  const fitting = await fittingFields(database, { table, candidates, announce: announceOnce })
  const described: ColumnDescription[] = []
  for (const [index, column] of table.columns.entries()) {
    const own = candidates[index] as Candidates
    const allowed = await allowedIn(database, table, column, own.allowed)
    described.push(
      describeColumn(column, { candidates: own, fields: fitting[index] ?? [], allowed }),
    )
  }
  const completed = await complete?.(described)
  const { columns, denied } = completed ?? { columns: described, denied: [] }
  const nullFree = described.filter(
    ({ notNull }, index) => !(candidates[index]?.hasNull ?? !notNull),
  )
  const keys = keysIn(table, new Set(nullFree.map(({ name }) => name)))
  const generated = numberedColumn(columns, keys[0])
  return {
    ...{ ...table, keys, generated },
    columns: columns.map((column) =>
      column.isFixed === true && column.name !== generated
        ? { ...column, isComputed: true }
        : column,
    ),
    unreachable: await unreachableRows(database, table, keys, columns),
    denied: [...deniedOf(table), ...denied],
  }
}

async function isLarge(database: ReadValues, table: CatalogueTable): Promise<boolean> {
  const some = sql`select 1 from ${database.place(table)} limit ${raw(String(largeRows))}`
  const [[count] = []] = await database.rows(sql`select count(*) from (${some}) as some_rows`)
  return Number(count) >= largeRows
}

/** Returns the only values of a column, as the database stores them. */
async function allowedIn(
  database: ReadValues,
  table: CatalogueTable,
  column: CatalogueColumn,
  allowed: AllowedValues | undefined,
): Promise<AllowedValues | undefined> {
  return column.labels ?? (allowed && (await spelled(database, table, column, allowed)))
}

/** What reading a table has shown of a column. */
interface FoundColumn {
  readonly candidates: Candidates
  /** The candidates that all values fit. */
  readonly fields: readonly Field[]
  readonly allowed: AllowedValues | undefined
}

function describeColumn(
  column: CatalogueColumn,
  { candidates, fields, allowed }: FoundColumn,
): ColumnDescription {
  const { hasDefault, isDefaultUsable = true } = column
  const { note, noteInPages, lastNote } = candidates
  const [first] = fields
  const isLast = first !== undefined && first === candidates.fields.at(-1)
  const reason = isLast ? (lastNote ?? note) : note
  const noField = 'some of its values, such as strings with U+0000, fit no type'
  return {
    ...column,
    ...{ fields, allowed, denied: deniedTo(column) },
    note: first === undefined ? (reason ?? noField) : reason,
    ...(isLast ? {} : { noteInPages }),
    hasDefault: hasDefault && isDefaultUsable,
  }
}

/** Returns the groups of columns that identify a row, with the primary key first. */
export function keysIn(
  table: CatalogueTable,
  nullFree: ReadonlySet<string>,
): readonly (readonly string[])[] {
  const { columns, primary = [], hasOwnKey = false } = table
  const required = new Set(columns.filter(({ notNull }) => notNull).map(({ name }) => name))
  const uniques = uniqueGroups(table)
  const isPrimary = (group: readonly string[]): boolean => group.join('\0') === primary.join('\0')
  const others = uniques.filter(
    (group) => !isPrimary(group) && group.every((name) => required.has(name)),
  )
  const own = primary.length > 0 && (hasOwnKey || uniques.some(isPrimary)) ? [primary] : []
  return [...own, ...others].filter((group) => group.every((name) => nullFree.has(name)))
}

/** Returns the column of a key whose number the database generates. */
function numberedColumn(
  columns: readonly ColumnDescription[],
  [name, ...others]: readonly string[] = [],
): string | undefined {
  const column = others.length === 0 ? columns.find((each) => each.name === name) : undefined
  if (column?.numberedBy === undefined || !column.hasDefault) return undefined
  return column.fields.some(({ type }) => type === 'integer' || type === 'bigint')
    ? name
    : undefined
}

/** Returns the events that a table does not allow, or to which the role of the connection has no right. */
function deniedOf(table: CatalogueTable): readonly Denied[] {
  const { unwritable } = table
  if (unwritable !== undefined) return [{ events: writeEvents, reason: `it ${unwritable}` }]
  const events = writeEvents.filter((event) => !isAllowed(table, event))
  if (events.length === 0) return []
  const isReadOnly = events.length === writeEvents.length
  const reason = isReadOnly ? 'the role may only read it' : 'the role does not have the right'
  return [{ events, reason }]
}

// A right to one column is enough.
function isAllowed({ columns, isDeletable = true }: CatalogueTable, event: WriteEvent): boolean {
  return event === 'Delete'
    ? isDeletable
    : columns.some((column) => !deniedTo(column).includes(event))
}

/** Returns the events in which the role of the connection may not write a column. */
function deniedTo({
  isInsertable = true,
  isUpdatable = true,
}: CatalogueColumn): readonly ('Insert' | 'Update')[] {
  return [
    ...(isInsertable ? [] : (['Insert'] as const)),
    ...(isUpdatable ? [] : (['Update'] as const)),
  ]
}
