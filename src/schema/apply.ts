import type { PublishedCollection } from '../definition/published.ts'
import { bind, type Connection, type TextRow } from '../storage/pool/connection.ts'
import type { Errors } from '../storage/pool/failure.ts'
import type { Tables } from '../storage/sql/dialect.ts'
import { raw } from '../storage/sql/fragments.ts'
import { slowOrders } from '../storage/sql/slow-orders.ts'
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
import type { AlteringDialect, FoundTables } from './database.ts'
import { draftOf } from './draft.ts'
import { definitionMistakes } from './mistakes.ts'
import { plans } from './plan.ts'
import type { Table } from './model.ts'

/** A database behind a pool whose tables are compared and changed. */
export interface SchemaDatabase {
  /** That of the server. Read it only with an open connection, because related servers differ. */
  readonly dialect: AlteringDialect & {
    readonly storage: string
    readonly errors: Pick<Errors, 'isUndone'>
  }
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
  const found = await readTables(connection, withFormerTables(collections))
  const lacking = await countLacking(connection, found, collections)
  const diff = planTables(dialect, { found, collections, lacking }, allowed)
  const orders = orderIndexes(found, collections, diff)
  return allowed.has('order')
    ? { ...diff, changes: [...diff.changes, ...orders] }
    : { ...diff, left: [...diff.left, ...orders] }
}

/** Returns the indexes that pages of existing tables lack, unless other changes of a table come first. */
function orderIndexes(
  found: Tables,
  collections: readonly PublishedCollection[],
  { changes, left }: SchemaDiff,
): readonly SchemaChange[] {
  const { quoted } = found.dialect
  const awaited = left.filter(({ kind }) => kind === 'rename' || kind === 'rebuild')
  const changing = new Set([...changes, ...awaited].map(({ table }) => found.identityOf(table)))
  const planned = new Set<string>()
  return collections
    .filter(({ table }) => !changing.has(found.identityOf(table)))
    .filter(({ table, fields }) => fields.every(({ column }) => found.find(table)?.find(column)))
    .flatMap((collection) => slowOrders(found, collection))
    .flatMap(({ collection: { table }, fields, statements }) => {
      const own = statements.filter((statement) => !planned.has(statement))
      for (const statement of own) planned.add(statement)
      const names = fields.map(({ column }) => quoted(column)).join(', ')
      const description = `Creates the index for pages of the table ${quoted(table)} in the order of ${names}.`
      return own.length === 0 ? [] : [{ kind: 'order', table, description, statements: own }]
    })
}

/** Counts the rows without required values: in all columns (default), or only in those that tables lack. */
export async function countLacking(
  connection: Connection,
  { dialect, ...tables }: FoundTables,
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

/** Plans changes of the tables that were found, by their effects. */
function planTables(
  dialect: AlteringDialect,
  { found, collections, lacking }: Compared,
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const known = withFormerTables(collections)
  let all: readonly Table[] = [...new Set(known.flatMap(({ table }) => found.find(table) ?? []))]
  const tables = (): FoundTables => ({ ...found, ...found.names(all) })
  const planning = {
    draft: () => draftOf(dialect, tables(), collections, lacking),
    make({ after }: PlannedChange) {
      all = after?.(all, found.names, dialect) ?? all
      return undefined
    },
    tables,
  }
  return planSchema(plans, planning, collections, allowed)
}

/** The tables that were found, and what they should be. */
interface Compared {
  readonly found: Tables
  readonly collections: readonly PublishedCollection[]
  readonly lacking: Lacking
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
    const makeAll = async ({ changes }: SchemaDiff): Promise<SchemaDiff> => {
      for (const change of changes) {
        progress(change.description)
        await make(connection, change, database.dialect)
      }
      return diff()
    }
    const planned = await diff()
    const after = await makeAll(planned)
    // The orders of a table are known after its other changes.
    const orders = after.changes.filter(({ kind }) => kind === 'order')
    const [rest] = (orders.length === 0 ? after : await makeAll({ ...after, changes: orders }))
      .changes
    const changes = [...planned.changes, ...orders]
    if (rest === undefined) return { ...planned, changes, left: after.left, copy: null }
    const end = isTransactional ? ' Nothing was changed.' : ''
    throw new Error(`The changes do not make the database fit: ${rest.description}${end}`)
  })
}

async function make(
  connection: Connection,
  { description, statements }: SchemaChange,
  { changes: { isTransactional }, errors }: SchemaDatabase['dialect'],
): Promise<void> {
  for (const statement of statements) {
    try {
      await connection.change(statement)
    } catch (error) {
      const stays = errors.isUndone(error)
        ? 'the changes before it stay'
        : 'it may have been made, as those before it'
      const changed = isTransactional ? 'nothing was changed' : stays
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
