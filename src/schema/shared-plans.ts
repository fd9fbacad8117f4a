import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import {
  changedTable,
  renamedColumn,
  tableWithout,
  withColumn,
  withoutColumn,
} from './planned-tables.ts'
import {
  constantFor,
  fillName,
  fillStatement,
  isNotNull,
  type LackingColumn,
} from './required-columns.ts'
import type { PlannedChange } from './changes.ts'
import { columnIdentity, literalIn, sharedTables, type Draft, type SharedTable } from './draft.ts'
import { groupByTable, type Table } from './model.ts'
import { columnDefinition } from './statements.ts'
import { sharedFields } from './wanted-indexes.ts'

/** Plans to rename tables to which a definition gives another name. */
export function renamedTables(draft: Draft): readonly PlannedChange[] {
  const { collections, find, identityOf, quoted } = draft
  const used = new Set(collections.map(({ table }) => identityOf(table)))
  return Array.from(groupByTable(collections, identityOf).values()).flatMap((sharing) => {
    const { table, definition } = sharing[0] as PublishedCollection
    const { renamedFrom: former } = definition
    if (former === undefined || used.has(identityOf(former))) return []
    const present = find(former)
    if (find(table) !== undefined || present === undefined || present.kind === 'view') return []
    return [
      {
        kind: 'rename',
        table,
        description: `Renames the table ${quoted(former)} to ${quoted(table)}.`,
        statements: [`ALTER TABLE ${quoted(present.name)} RENAME TO ${quoted(table)};`],
        after: changedTable(former, () => ({ name: table })),
      },
    ]
  })
}

/** Returns the collections whose tables are not those that wait to be renamed. */
export function withoutAwaited(draft: Draft): readonly PublishedCollection[] {
  const { collections, identityOf } = draft
  const awaited = new Set(renamedTables(draft).map(({ table }) => identityOf(table)))
  return collections.filter(({ table }) => !awaited.has(identityOf(table)))
}

/** Plans to rename columns to which a definition gives another name. */
export function renamedColumns(draft: Draft): readonly PlannedChange[] {
  const { quoted } = draft
  return missingColumnsOf(draft).flatMap(({ table, present, field, former }) => {
    if (former === undefined) return []
    const [from, to] = [quoted(former), quoted(field.column)]
    return [
      {
        kind: 'rename' as const,
        table,
        description: `Renames the column ${from} of the table ${quoted(table)} to ${to}.`,
        statements: [`ALTER TABLE ${quoted(present)} RENAME COLUMN ${from} TO ${to};`],
        after: renamedColumn(table, former, field.column),
      },
    ]
  })
}

/** Plans to add columns. Those of a key and those with a default of the database can't be added. */
export function addedColumns(draft: Draft): readonly PlannedChange[] {
  const { dialect, quoted, lacking } = draft
  return missingColumnsOf(draft).flatMap((missing): PlannedChange[] => {
    const { table, present, sharing, field, former } = missing
    if (former !== undefined || field.inKey || field.hasColumnDefault) return []
    const adds = `Adds the column ${quoted(field.column)} to the table ${quoted(table)}`
    const add = `ALTER TABLE ${quoted(present)} ADD COLUMN ${columnDefinition(dialect, sharing, field)};`
    const change = { table, after: withColumn(table, sharing, field) }
    const { rows } = lacking(table, field.column)
    if (rows === 0) return [{ kind: 'add', ...change, description: `${adds}.`, statements: [add] }]
    const literal = literalFor(draft, table, { sharing, field, rows })
    if (literal === undefined) {
      const description = `${adds}, whose ${rowsText(rows)} then have no value of a required field. ${fillAdvice({ sharing, field, rows })}`
      return [{ kind: 'nulls', ...change, description, statements: [add] }]
    }
    const fill = fillStatement(quoted, [present, field.column], literal)
    const description = `${adds}, and writes ${literal} into its ${rowsText(rows)}.`
    return [{ kind: 'add', ...change, description, statements: [add, fill] }]
  })
}

/** Plans to write the defaults of required fields into rows that have null, and lists the rows that must be left. */
export function filledColumns(draft: Draft): readonly PlannedChange[] {
  const { quoted, lacking } = draft
  return sharedTables(draft).flatMap(({ name: table, table: { name: own, columns }, sharing }) => {
    const identityOf = columnIdentity(draft, table)
    const fields = sharedFields(sharing, identityOf)
    return columns.flatMap(({ name: column }): PlannedChange[] => {
      const field = fields.get(identityOf(column))
      if (field === undefined) return []
      const { rows, isPresent } = lacking(table, field.column)
      // Those of a column that was added are filled.
      if (rows === 0 || !isPresent) return []
      const literal = literalFor(draft, table, { sharing, field, rows })
      const place = `${rowsText(rows)} of the table ${quoted(table)}`
      if (literal === undefined) {
        const description = `Leaves ${place} without a value in the column ${quoted(column)} of a required field. ${fillAdvice({ sharing, field, rows })}`
        return [{ kind: 'nulls', table, description, statements: [] }]
      }
      const description = `Writes ${literal} into the column ${quoted(column)} of ${place}, which have no value of this required field.`
      const statements = [fillStatement(quoted, [own, column], literal)]
      return [{ kind: 'add', table, description, statements }]
    })
  })
}

/** A column that allows null although every row must have a value, and has one when the plans before were made. */
export interface RequiredColumn {
  readonly table: string
  readonly column: string
  readonly field: PublishedField
}

/** Returns the columns of a table that can reject null. */
export function requiredColumns(
  draft: Draft,
  { name: table, table: { columns }, sharing }: SharedTable,
  allowsNull: (column: string) => boolean,
): readonly RequiredColumn[] {
  const identityOf = columnIdentity(draft, table)
  const fields = sharedFields(sharing, identityOf)
  return columns.flatMap(({ name: column }) => {
    const field = fields.get(identityOf(column))
    if (field === undefined || field.inKey || !allowsNull(column)) return []
    if (!isNotNull(sharing, field)) return []
    const { rows } = draft.lacking(table, field.column)
    const isFilled = rows === 0 || literalFor(draft, table, { sharing, field, rows }) !== undefined
    return isFilled ? [{ table, column, field }] : []
  })
}

function literalFor(
  draft: Draft,
  table: string,
  { sharing, field, rows }: LackingColumn,
): string | undefined {
  const value = constantFor(sharing, field, rows)
  return value === undefined ? undefined : literalIn(draft, table, field, value)
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`
}

function fillAdvice(column: LackingColumn): string {
  return `Give them one with --fill ${fillName(column)}=<value>.`
}

/** Plans to drop columns that no field has, other than those that the definition leaves to the database. */
export function droppedColumns(draft: Draft): readonly PlannedChange[] {
  const { quoted } = draft
  const awaited = new Set(missingColumnsOf(draft).map(({ table, former }) => `${table}\0${former}`))
  return sharedTables(draft).flatMap(({ name, table, sharing }) => {
    const identityOf = columnIdentity(draft, name)
    const fields = sharedFields(sharing, identityOf)
    const unmanaged = new Set(unmanagedColumns(sharing).map(identityOf))
    return table.columns
      .filter(
        ({ name: column, isUsed = false, orders }) =>
          !isUsed &&
          // Pages in the order of a field are read by it.
          (orders === undefined || !fields.has(identityOf(orders))) &&
          !fields.has(identityOf(column)) &&
          !unmanaged.has(identityOf(column)) &&
          !awaited.has(`${name}\0${column}`),
      )
      .map(({ name: column }, index, dropped) => ({
        kind: 'drop' as const,
        table: name,
        description: `Drops the column ${quoted(column)} of the table ${quoted(name)}, which the definition does not name.`,
        statements: dropColumn(
          draft,
          table,
          column,
          dropped.slice(0, index).map((each) => each.name),
        ),
        after: withoutColumn(name, column),
      }))
  })
}

/** Returns the statements that drop a column of a table, after `earlier` ones. */
function dropColumn(
  { dialect: { changes, copies, quoted } }: Draft,
  table: Table,
  column: string,
  earlier: readonly string[],
): readonly string[] {
  if (copies !== undefined) return copies.dropColumn(table, column)
  const left = earlier.reduce((own, each) => ({ ...own, ...tableWithout(own, each) }), table)
  const drop = changes?.dropColumn?.(left, column)
  return [drop ?? `ALTER TABLE ${quoted(table.name)} DROP COLUMN ${quoted(column)};`]
}

function unmanagedColumns(sharing: readonly PublishedCollection[]): readonly string[] {
  return sharing.flatMap(({ definition }) => definition.unmanaged?.columns ?? [])
}

interface MissingColumn {
  readonly table: string
  /** The name of the table in the database. */
  readonly present: string
  readonly sharing: readonly PublishedCollection[]
  readonly field: PublishedField
  /** The column that has its former name. */
  readonly former: string | undefined
}

function missingColumnsOf(draft: Draft): readonly MissingColumn[] {
  return sharedTables(draft).flatMap(({ name, table, sharing }) => {
    const identityOf = columnIdentity(draft, name)
    const fields = sharedFields(sharing, identityOf)
    const present = new Map(table.columns.map((column) => [identityOf(column.name), column.name]))
    const missing = [...fields].filter(([column]) => !present.has(column))
    return missing.map(([, field]) => {
      const former = field.definition.renamedFrom
      const isFree = former !== undefined && !fields.has(identityOf(former))
      const column = isFree ? present.get(identityOf(former)) : undefined
      return { table: name, present: table.name, sharing, field, former: column }
    })
  })
}
