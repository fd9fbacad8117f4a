import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Lacking } from './required-columns.ts'
import type { Effect } from './planned-tables.ts'
import { groupByTable } from './model.ts'

/**
 * What a change does. `add`: it creates a table, column, index or constraint, or writes the default of a required field
 * into rows without a value. `rename`: other programs may know the old name. `rebuild`: it redeclares columns, and may
 * copy the table. `drop`: the values of a column are lost. `nulls`: it leaves rows without a value of a required field.
 * `require`: it rejects null in columns of required fields, which other programs may write.
 */
export type SchemaChangeKind = 'add' | 'rename' | 'rebuild' | 'drop' | 'nulls' | 'require'

/** One change that makes a database fit a definition. */
export interface SchemaChange {
  readonly kind: SchemaChangeKind
  /** The table, by the name that the definition gives it. */
  readonly table: string
  /** A sentence, such as `Adds the column "city" to the table "customers".` */
  readonly description: string
  /** The SQL statements, in order. None: what it leaves as it is. */
  readonly statements: readonly string[]
}

/** The differences between a database and a definition. */
export interface SchemaDiff {
  /** The changes of the kinds that are allowed, in order. */
  readonly changes: readonly SchemaChange[]
  /** The changes of other kinds. What depends on them is not planned. */
  readonly left: readonly SchemaChange[]
  /** What no change makes fit, one message each, with what to do. */
  readonly mistakes: readonly string[]
}

/** What was changed. */
export interface AppliedSchema extends SchemaDiff {
  /** The copy of the database as it was. Null if nothing could be lost, or if the database is not a file. */
  readonly copy: string | null
}

/** A change, and what the tables of a database behind a pool are after it. SQLite makes it in an empty copy instead. */
export interface PlannedChange extends SchemaChange {
  readonly after?: Effect
}

/** A table for which changes are planned. */
export interface DraftTable {
  /** Its name in the database. */
  readonly name: string
  readonly kind: string
  readonly columns: readonly {
    readonly name: string
    /** Whether something depends on it, such as a view, so that it can't be dropped. Default false. */
    readonly isUsed?: boolean
  }[]
}

/** The tables of a database as the changes before leave them, and how it changes them. */
export interface Draft {
  readonly collections: readonly PublishedCollection[]
  /** Returns a table by the name of a collection. */
  find(name: string): DraftTable | undefined
  /** Returns the same string for names of collections that mean the same table. */
  identityOf(name: string): string
  quoted(name: string): string
  /** Returns a function that returns the same string for names that mean the same column of a table. */
  columnIdentity(table: string): (column: string) => string
  columnDefinition(sharing: readonly PublishedCollection[], field: PublishedField): string
  /** The rows without required values, as they were when the database was read. */
  readonly lacking: Lacking
  /**
   * Returns the SQL of a value in the column of a field, as the changes before leave it. Undefined: the column does not
   * keep the value.
   */
  literal(table: string, field: PublishedField, value: NonNullable<StoredValue>): string | undefined
  /** Returns the statements that drop a column of a table, after `earlier` ones. */
  dropColumn(table: string, column: string, earlier: readonly string[]): readonly string[]
}

/** Plans changes of one sort. */
export type Plan<Own extends Draft> = (draft: Own) => readonly PlannedChange[]

/** How the changes of a database are planned. */
export interface Planning<Own extends Draft> {
  /** The plans, each for the tables as the ones before it leave them. */
  readonly plans: readonly Plan<Own>[]
  /** Returns the tables as the changes that were made leave them. */
  draft(): Own
  /** Makes a change of the draft. Returns why the database rejects it. */
  make(change: PlannedChange): string | undefined
  /** Returns the same string for names of collections that mean the same table. */
  identityOf(name: string): string
  /** Returns what is wrong with the tables of collections after the changes. */
  mistakes(collections: readonly PublishedCollection[]): readonly string[]
}

/** Plans the changes of the kinds that are allowed, and lists the others. */
export function planSchema<Own extends Draft>(
  { plans, draft, make, identityOf, mistakes }: Planning<Own>,
  collections: readonly PublishedCollection[],
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const changes: SchemaChange[] = []
  const left: SchemaChange[] = []
  const impossible: string[] = []
  for (const plan of plans) {
    for (const planned of plan(draft())) {
      const { kind, table, description, statements } = planned
      const change = { kind, table, description, statements }
      const reason = allowed.has(kind) ? make(planned) : undefined
      if (!allowed.has(kind)) left.push(change)
      else if (reason === undefined) changes.push(...(statements.length > 0 ? [change] : []))
      // A column that can't be dropped does no harm.
      else if (kind !== 'drop') impossible.push(`${description} ${reason}`)
    }
  }
  // A change that is left explains what does not fit yet.
  const awaited = left.filter(({ kind }) => kind !== 'drop' && kind !== 'require')
  const waiting = new Set(awaited.map(({ table }) => identityOf(table)))
  const fitting = collections.filter(({ table }) => !waiting.has(identityOf(table)))
  return { changes, left, mistakes: [...impossible, ...mistakes(fitting)] }
}

/**
 * Returns collections with, for each that gives its table another name, one for the former name: what is read of both
 * is known.
 */
export function withFormerTables(
  collections: readonly PublishedCollection[],
): readonly PublishedCollection[] {
  return collections.flatMap((one) => {
    const { renamedFrom: table } = one.definition
    return table === undefined ? [one] : [one, { ...one, table }]
  })
}

type Statements = Pick<SchemaChange, 'statements'>

/** Returns a change that creates a table, or an index of it. */
export function creation(
  { quoted }: Pick<Draft, 'quoted'>,
  table: string,
  created: { readonly is: 'table' | 'index' | 'unique index'; readonly statement: string },
): PlannedChange {
  const { is, statement } = created
  const article = is === 'index' ? 'an' : 'a'
  const what = is === 'table' ? 'the table' : `${article} ${is} of the table`
  const description = `Creates ${what} ${quoted(table)}.`
  return { kind: 'add', table, description, statements: [statement] }
}

/** Returns the change that redeclares columns of a table. */
export function redeclaration(
  { quoted }: Pick<Draft, 'quoted'>,
  table: string,
  { columns, statements }: { readonly columns: readonly string[] } & Statements,
): PlannedChange {
  const description = `Redeclares ${columns.map(quoted).join(', ')} of the table ${quoted(table)}, which copies the table.`
  return { kind: 'rebuild', table, description, statements }
}

/** Returns the change that creates the search index of a table. `isLeft`: in place of another one. */
export function searchCreation(
  { quoted }: Pick<Draft, 'quoted'>,
  table: string,
  { isLeft, statements }: { readonly isLeft: boolean } & Statements,
): PlannedChange {
  const creates = isLeft ? 'Recreates' : 'Creates'
  const description = `${creates} the search index of the table ${quoted(table)}.`
  return { kind: 'add', table, description, statements }
}

/** Returns the change that drops a search index. */
export function searchDrop(
  { quoted }: Pick<Draft, 'quoted'>,
  table: string,
  statements: readonly string[],
): PlannedChange {
  const description = `Drops the search index of the table ${quoted(table)}, which the definition does not declare.`
  return { kind: 'drop', table, description, statements }
}

/** An existing table, with the collections that share it. */
export interface SharedTable<Found extends DraftTable = DraftTable> {
  /** Its name in the definition. */
  readonly name: string
  readonly table: Found
  readonly sharing: readonly PublishedCollection[]
}

/** Returns the existing tables of collections, without views. */
export function sharedTables<Found extends DraftTable>(draft: {
  readonly collections: readonly PublishedCollection[]
  find(name: string): Found | undefined
  identityOf(name: string): string
}): readonly SharedTable<Found>[] {
  const { collections, find, identityOf } = draft
  return Array.from(groupByTable(collections, identityOf).values()).flatMap((sharing) => {
    const { table: name } = sharing[0] as PublishedCollection
    const table = find(name)
    return table?.kind === 'table' ? [{ name, table, sharing }] : []
  })
}
