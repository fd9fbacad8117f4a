import type { PublishedCollection } from '../../definition/published.ts'
import type { CatalogueColumn, CatalogueReference, CatalogueTable } from '../catalogue-tables.ts'
import { bind, type Connection } from '../../storage/pool/connection.ts'
import type { Tables } from '../../storage/sql/dialect.ts'
import { sql, type Sql } from '../../storage/sql/fragments.ts'
import { statementTexts } from '../../storage/sql/shape.ts'
import {
  exactNames,
  finder,
  folded,
  searchPrefix,
  type Column,
  type Index,
  type Table,
} from '../model.ts'
import { listSlot } from './column-types.ts'
import { catalogueQuery } from './catalogue-query.ts'
import { postgresDialect } from '../../storage/postgres/dialect.ts'
import type { NamedColumns, Partition } from './named-columns.ts'

interface TableRow {
  readonly oid: string
  readonly schema: string
  readonly name: string
  readonly kind: string
  readonly parent: string | null
  readonly extension: string | null
  readonly rows: number | null
  readonly runsCode: boolean
  readonly hasPolicies: boolean
  readonly identity: readonly string[] | null
  readonly checks: readonly string[]
  readonly hasDeferred: boolean
  readonly isDeletable: boolean
  readonly policies: Policies
  readonly columns: readonly ColumnRow[]
  readonly indexes: readonly (Index & {
    readonly name: string
    readonly isValid: boolean
    readonly isComplete: boolean
    readonly isPrimary: boolean
  })[]
  readonly references: readonly (Omit<CatalogueReference, 'onDelete'> & {
    readonly isImmediate: boolean
    /** What a delete of the referenced row does: `c` cascade, `n` set null, `d` set the default, else fail. */
    readonly action: string
  })[]
  readonly named: readonly NamedColumns[]
  readonly partitions: readonly Partition[]
}

/** Whether the policies of a table let the role write rows of it at all. */
interface Policies {
  readonly insert: boolean
  readonly update: boolean
  readonly delete: boolean
}

interface ColumnRow extends Omit<
  CatalogueColumn,
  'scale' | 'labels' | 'numberedBy' | 'collation' | 'isDeterministic'
> {
  /** The modifier of the type: of a precision and a scale, a length, or of the digits of seconds. -1: none. */
  readonly modifier: number
  readonly labels: readonly string[] | null
  readonly numberedBy: string | null
  readonly collation: string | null
  readonly isDeterministic: boolean | null
}

/** Reads the tables of collections that the search path of the connection finds. */
export async function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): Promise<Tables> {
  const wanted = [...new Set(collections.map(({ table }) => folded(table)))]
  const condition = sql`pg_table_is_visible(c.oid) and lower(c.relname::text collate "C") = any(${listSlot(() => wanted)}::text[])
    and n.nspname not in ('pg_catalog', 'information_schema')`
  const tables = await tablesWhere(connection, condition)
  const texts = statementTexts(collections.length)
  const names = exactNames(collections)
  const searchOperators = collections.some(({ hasSearchIndex }) => hasSearchIndex)
    ? await operatorClass(connection)
    : undefined
  return { dialect: postgresDialect, texts, searchOperators, names, ...names(tables) }
}

/** Returns the operator class of trigrams with its schema. Undefined if the extension is not installed. */
async function operatorClass(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.rows(
    bind(sql`select quote_ident(n.nspname) || '.gin_trgm_ops' from pg_extension e
      join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`),
  )
  return row?.[0] ?? undefined
}

/** Reads all tables and views of a schema, by name. */
export function readSchema(
  connection: Connection,
  schema: string,
): Promise<readonly CatalogueTable[]> {
  return tablesWhere(connection, sql`n.nspname = ${{ read: () => schema }}::text`)
}

async function tablesWhere(
  connection: Connection,
  condition: Sql,
): Promise<readonly CatalogueTable[]> {
  const rows = await connection.rows(bind(catalogueQuery(condition)))
  return rows.map(([text]) => tableOf(JSON.parse(text as string) as TableRow))
}

const kinds: Readonly<Record<string, Table['kind']>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'view',
}

const readOnlyKinds: Readonly<Record<string, string>> = {
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
}

const actions: Readonly<Record<string, CatalogueReference['onDelete']>> = {
  a: 'restrict',
  r: 'restrict',
  c: 'cascade',
  n: 'setNull',
  d: 'setDefault',
}

function tableOf({
  oid,
  kind,
  parent,
  extension,
  columns: rows,
  indexes,
  references,
  named,
  partitions: parts,
  identity: own,
  policies,
  rows: estimate,
  ...table
}: TableRow): CatalogueTable {
  const columns = rows.map((row) => columnOf(row, policies))
  const foreign = references.map((key) => ({ ...key, onDelete: actions[key.action] ?? 'restrict' }))
  const primary = indexes.find(({ isPrimary }) => isPrimary)
  return {
    ...table,
    id: oid,
    rows: estimate ?? undefined,
    kind: kinds[kind] ?? 'other',
    isDeletable: table.isDeletable && policies.delete,
    readOnly: readOnlyKinds[kind],
    leftOut: extension === null ? partitionOf(parent) : `belongs to the extension ${extension}`,
    columns,
    find: finder(columns),
    identity: own ?? undefined,
    primary: primary?.columns.map(({ name }) => name ?? ''),
    references: foreign,
    indexes: indexes.filter(({ isComplete }) => isComplete),
    searchIndexes: indexes
      .filter(({ name, isValid }) => isValid && name.startsWith(searchPrefix))
      .map(({ name }) => name),
    foreignKeys: foreign
      .filter(({ isImmediate }) => isImmediate)
      .map((key) => ({
        ...key,
        onDelete: key.onDelete === 'setDefault' ? undefined : key.onDelete,
      })),
    constraints: columnsByName(named),
    indexed: indexedColumns(named),
    partitions: parts.map((part) => ({ ...part, constraints: columnsByName(part.constraints) })),
  }
}

function columnsByName(named: readonly NamedColumns[]): Table['constraints'] {
  return new Map(named.map(({ name, columns }) => [name, columns]))
}

function indexedColumns(named: readonly NamedColumns[]): readonly string[] {
  return named.flatMap(({ isIndex, columns }) => (isIndex ? columns : []))
}

function partitionOf(parent: string | null): string | undefined {
  return parent === null ? undefined : `a partition of ${parent}`
}

function columnOf(
  { modifier, labels, numberedBy, collation, isDeterministic, ...column }: ColumnRow,
  policies: Policies,
): CatalogueColumn {
  const { base, isInsertable = true, isUpdatable = true } = column
  return {
    ...column,
    ...digitsOf(base, modifier),
    isInsertable: isInsertable && policies.insert,
    isUpdatable: isUpdatable && policies.update,
    labels: labels ?? undefined,
    numberedBy: numberedBy ?? undefined,
    collation: collation ?? undefined,
    isDeterministic: isDeterministic ?? true,
  }
}

function digitsOf(base: string, modifier: number): Pick<Column, 'scale' | 'precision' | 'length'> {
  if (modifier < 0) return { scale: undefined }
  const size = modifier - 4
  if (base === 'varchar' || base === 'bpchar') return { scale: undefined, length: size }
  if (base !== 'numeric') return { scale: modifier }
  // The scale has a sign.
  return { precision: (size >> 16) & 65_535, scale: ((size & 2047) ^ 1024) - 1024 }
}
