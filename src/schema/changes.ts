import type { PublishedCollection } from '../definition/published.ts'
import type { FoundTables } from './database.ts'
import type { Draft } from './draft.ts'
import { tableMistakes } from './mistakes.ts'
import type { Effect } from './planned-tables.ts'

/**
 * What a change does. `add`: it creates a table, column, index or constraint, or writes the default of a required field
 * into rows without a value. `rename`: other programs may know the old name. `rebuild`: it redeclares columns, and may
 * copy the table. `drop`: the values of a column are lost. `nulls`: it leaves rows without a value of a required field.
 * `require`: it rejects null in columns of required fields, which other programs may write. `order`: it creates an index
 * without which pages sort a large table, and which takes time and space.
 */
export type SchemaChangeKind = 'add' | 'rename' | 'rebuild' | 'drop' | 'nulls' | 'require' | 'order'

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

/** Plans changes of one sort. */
export type Plan = (draft: Draft) => readonly PlannedChange[]

/** How the changes of a database are planned. */
export interface Planning {
  /** Returns the tables as the changes that were made leave them. */
  draft(): Draft
  /** Makes a change of the draft. Returns why the database rejects it. */
  make(change: PlannedChange): string | undefined
  /** Returns the tables of collections after the changes. */
  tables(collections: readonly PublishedCollection[]): FoundTables
}

/** Plans the changes of the kinds that are allowed, and lists the others. */
export function planSchema(
  plans: readonly Plan[],
  { draft, make, tables }: Planning,
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
  const { identityOf } = draft()
  const waiting = new Set(awaited.map(({ table }) => identityOf(table)))
  const fitting = collections.filter(({ table }) => !waiting.has(identityOf(table)))
  return { changes, left, mistakes: [...impossible, ...tableMistakes(tables(fitting), fitting)] }
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

/** Returns the changes without those that collections with the same table repeat. */
export function withoutRepeated(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  return [...new Map(changes.map((change) => [change.statements.join('\n'), change])).values()]
}
