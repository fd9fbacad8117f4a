import type { PublishedCollection } from '../definition/published.ts'
import { bind, type Connection, type TextRow } from '../storage/pool/connection.ts'
import type { SchemaDialect, Tables } from '../storage/sql/dialect.ts'
import { literalOf } from './column-values.ts'
import { raw } from '../storage/sql/fragments.ts'
import { withoutColumn } from './planned-tables.ts'
import { lackingOf, valueCounts, type Lacking } from './required-columns.ts'
import {
  planSchema,
  withFormerTables,
  type AppliedSchema,
  type PlannedChange,
  type SchemaChange,
  type SchemaChangeKind,
  type SchemaDiff,
} from './changes.ts'
import type { TablesDraft } from './draft.ts'
import { plans } from './plan.ts'
import { columnDefinition } from './statements.ts'
import { definitionMistakes, tableMistakes } from './table-check.ts'
import { folded, type Table } from './model.ts'

/** A database behind a pool whose tables are compared and changed. */
export interface SchemaDatabase {
  /** That of the server. Read it only with an open connection, because related servers differ. */
  readonly dialect: SchemaDialect
  /** Returns what is wrong with the database itself. */
  mistakes(connection: Connection): Promise<readonly string[]>
  readTables(connection: Connection, collections: readonly PublishedCollection[]): Promise<Tables>
  /** Runs work that changes the schema, while no other process does. */
  changeSchema<Result>(connection: Connection, work: () => Promise<Result>): Promise<Result>
}

/** Compares the tables of a database with collections, and plans changes. Nothing is changed. */
export async function diffTables(
  { dialect, mistakes, readTables }: SchemaDatabase,
  connection: Connection,
  collections: readonly PublishedCollection[],
  allowed: ReadonlySet<SchemaChangeKind>,
): Promise<SchemaDiff> {
  const unfit = [...definitionMistakes(dialect, collections), ...(await mistakes(connection))]
  if (unfit.length > 0) return { changes: [], left: [], mistakes: unfit }
  const known = withFormerTables(collections)
  const found = await readTables(connection, known)
  const lacking = await countLacking(connection, found, collections)
  return planTables(dialect, { found, known, collections, lacking }, allowed)
}

/** Counts the rows without required values: in all columns (default), or only in those that tables lack. */
export async function countLacking(
  connection: Connection,
  { dialect, ...tables }: Tables,
  collections: readonly PublishedCollection[],
  of: 'all' | 'absent' = 'all',
): Promise<Lacking> {
  const counts = valueCounts(collections, tables, dialect.quoted, of)
  const found: (TextRow | undefined)[] = []
  for (const { statement } of counts) {
    const [row] = await connection.rows(bind(raw(statement)))
    found.push(row)
  }
  return lackingOf(counts, found)
}

/** The tables that were found, and what they should be. */
interface Compared {
  readonly found: Tables
  readonly known: readonly PublishedCollection[]
  readonly collections: readonly PublishedCollection[]
  readonly lacking: Lacking
}

function planTables(
  dialect: SchemaDialect,
  { found, known, collections, lacking }: Compared,
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const { quoted } = dialect
  let all: readonly Table[] = [...new Set(known.flatMap(({ table }) => found.find(table) ?? []))]
  const tables = (): Tables => ({ ...found, ...found.names(all) })
  const draft = (): TablesDraft => {
    const now = tables()
    return {
      dialect,
      collections,
      tables: now,
      all,
      find: now.find,
      identityOf: now.identityOf,
      quoted,
      columnIdentity(table) {
        const known = now.find(table)
        return (column) => known?.find(column)?.name ?? folded(column)
      },
      columnDefinition: (sharing, field) => columnDefinition(dialect, sharing, field),
      lacking,
      literal: (table, field, value) =>
        literalOf(dialect, field, value, now.find(table)?.find(field.column)),
      dropColumn(table, column, earlier) {
        const left = earlier.reduce(
          (tables, each) => withoutColumn(table, each)(tables, found.names, dialect),
          all,
        )
        const own = found.names(left).find(table) as Table
        const drop = dialect.changes.dropColumn?.(own, column)
        return [drop ?? `ALTER TABLE ${quoted(own.name)} DROP COLUMN ${quoted(column)};`]
      },
    }
  }
  const planning = {
    plans,
    draft,
    make({ after }: PlannedChange) {
      all = after?.(all, found.names, dialect) ?? all
      return undefined
    },
    identityOf: (name: string) => tables().identityOf(name),
    mistakes: (fitting: readonly PublishedCollection[]) => tableMistakes(tables(), fitting),
  }
  return planSchema(planning, collections, allowed)
}

/** How a database is changed. */
export interface TablesApplyOptions {
  readonly allowed: ReadonlySet<SchemaChangeKind>
  /** Called before each change, with a sentence. */
  readonly progress: (step: string) => void
}

/**
 * Makes the changes that are allowed. Rejects with an Error if one of them fails, for instance because rows do not
 * fit. Then nothing was changed, if the database changes its schema in transactions.
 */
export async function applyTables(
  database: SchemaDatabase,
  connection: Connection,
  collections: readonly PublishedCollection[],
  { allowed, progress }: TablesApplyOptions,
): Promise<AppliedSchema> {
  const { isTransactional } = database.dialect.changes
  const diff = (): Promise<SchemaDiff> => diffTables(database, connection, collections, allowed)
  const present = await diff()
  if (present.changes.length === 0) return { ...present, copy: null }
  return database.changeSchema(connection, async () => {
    const planned = await diff()
    for (const change of planned.changes) {
      progress(change.description)
      await make(connection, change, isTransactional)
    }
    const [rest] = (await diff()).changes
    if (rest === undefined) return { ...planned, copy: null }
    const end = isTransactional ? ' Nothing was changed.' : ''
    throw new Error(`The changes do not make the database fit: ${rest.description}${end}`)
  })
}

async function make(
  connection: Connection,
  { description, statements }: SchemaChange,
  isTransactional: boolean,
): Promise<void> {
  for (const statement of statements) {
    try {
      await connection.change(statement)
    } catch (error) {
      const changed = isTransactional ? 'nothing was changed' : 'the changes before it stay'
      throw new Error(`${description} This failed, and ${changed}: ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { detail } = error as { readonly detail?: unknown }
  return typeof detail === 'string' ? `${error.message}: ${detail}` : error.message
}
