import type { PublishedCollection } from '../../definition/published.ts'
import type {
  CatalogueColumn,
  CatalogueReference,
  CatalogueTable,
} from '../sql/catalogue-tables.ts'
import { bind, type Connection } from '../sql/connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { raw, sql, type Sql } from '../sql/fragments.ts'
import { statementTexts } from '../sql/shape.ts'
import {
  exactNames,
  finder,
  folded,
  searchPrefix,
  type Column,
  type Index,
  type Table,
} from '../sql/tables.ts'
import { listSlot } from './column-types.ts'
import { postgresDialect, runsCode } from './dialect.ts'
import { namedColumns, partitions, type NamedColumns, type Partition } from './named-columns.ts'

interface TableRow {
  readonly oid: string
  readonly schema: string
  readonly name: string
  readonly kind: string
  readonly parent: string | null
  readonly extension: string | null
  readonly runsCode: boolean
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
  const rows = await connection.rows(bind(catalogue(condition)))
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
  ...table
}: TableRow): CatalogueTable {
  const columns = rows.map((row) => columnOf(row, policies))
  const foreign = references.map((key) => ({ ...key, onDelete: actions[key.action] ?? 'restrict' }))
  const primary = indexes.find(({ isPrimary }) => isPrimary)
  return {
    ...table,
    id: oid,
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

function catalogue(condition: Sql): Sql {
  return sql`select json_build_object('oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
    'parent', (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid and c.relispartition),
    'extension', (select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'),
    'isDeletable', has_table_privilege(c.oid, 'delete'), 'policies', ${policiesOf},
    'runsCode', ${runsCode}, 'identity', ${identity},
    'columns', ${columnsOf}, 'checks', ${checksOf}, 'indexes', ${indexesOf}, 'references', ${referencesOf},
    'hasDeferred', exists (select from pg_constraint con where con.conrelid = c.oid and con.condeferred),
    'named', ${namedColumns}, 'partitions', ${partitions})::text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${condition}
    order by c.relname`
}

// Without a policy that permits an operation, the server rejects it for every row. The role 0 is everyone.
const permits = (command: string): string => `(not row_security_active(c.oid) or exists (
    select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', '${command}')
    and exists (select from unnest(p.polroles) as r where case when r = 0 then true else pg_has_role(r, 'usage') end)))`
const policiesOf = raw(
  `json_build_object('insert', ${permits('a')}, 'update', ${permits('w')}, 'delete', ${permits('d')})`,
)

// A table that others inherit from has their rows, too. A right to read columns does not cover these.
const identity = raw(`case when c.relkind in ('r', 'p') and has_table_privilege(c.oid, 'select')
  then json_build_array('tableoid', 'ctid') end`)

// What only it needs is dropped with a column, such as an index.
const isUsed = `exists (select from pg_depend d where d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid
    and d.refobjsubid = a.attnum and d.deptype = 'n' and not exists (select from pg_depend o
      where o.classid = d.classid and o.objid = d.objid and o.refclassid = d.refclassid
      and o.refobjid = d.refobjid and o.refobjsubid = d.refobjsubid and o.deptype in ('a', 'i')))`

// Bit 0 of an option is descending, bit 1 nulls first. By default, the last rows of an ascending order have the nulls.
const hasNullOrder = `exists (select from pg_index x, unnest(x.indkey[0:x.indnkeyatts - 1], x.indoption[0:x.indnkeyatts - 1]) as k(att, opt)
    where x.indrelid = c.oid and k.att = a.attnum and k.opt & 1 <> (k.opt >> 1) & 1)`

// A domain may be one of another domain: up to three are followed.
const columnsOf = raw(`(select coalesce(json_agg(json_build_object(
    'name', a.attname, 'declared', format_type(a.atttypid, a.atttypmod), 'base', bt.typname,
    'type', (select quote_ident(own.nspname) from pg_namespace own where own.oid = bt.typnamespace) || '.' || quote_ident(bt.typname),
    'labels', (select json_agg(l.enumlabel order by l.enumsortorder) from pg_enum l where l.enumtypid = bt.oid),
    'modifier', coalesce(e.typtypmod, d.typtypmod, case when t.typtype = 'd' then t.typtypmod end, a.atttypmod),
    'notNull', a.attnotnull or t.typnotnull or coalesce(d.typnotnull, false) or coalesce(e.typnotnull, false),
    'hasDefault', a.atthasdef and a.attgenerated = '' or a.attidentity <> '' or t.typdefault is not null,
    'isDomain', t.typtype = 'd', 'isUsed', a.attinhcount > 0 or ${isUsed},
    'isComputed', a.attgenerated <> '', 'isFixed', a.attidentity = 'a', 'hasNullOrder', ${hasNullOrder},
    'isReadable', has_column_privilege(c.oid, a.attnum, 'select'),
    'isInsertable', has_column_privilege(c.oid, a.attnum, 'insert'), 'isUpdatable', has_column_privilege(c.oid, a.attnum, 'update'),
    'isDefaultUsable', case when c.relkind in ('r', 'p') and a.attidentity = '' then coalesce(has_sequence_privilege(
      pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname), 'usage'), true) else true end,
    'numberedBy', case when c.relkind in ('r', 'p') then
      pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) end,
    'collation', co.collname, 'isDeterministic', co.collisdeterministic) order by a.attnum), '[]')
  from pg_attribute a join pg_type t on t.oid = a.atttypid
  left join pg_type d on d.oid = t.typbasetype and d.typtype = 'd' left join pg_type e on e.oid = d.typbasetype and e.typtype = 'd'
  join pg_type bt on bt.oid = coalesce(nullif(e.typbasetype, 0), nullif(d.typbasetype, 0), nullif(t.typbasetype, 0), t.oid)
  left join pg_collation co on co.oid = a.attcollation
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)`)

// An index does not have the rows of tables that inherit.
const indexesOf =
  raw(`(select coalesce(json_agg(json_build_object('name', i.relname, 'isPrimary', x.indisprimary,
    'unique', x.indisunique and x.indimmediate and not (c.relkind = 'r' and c.relhassubclass
      and exists (select from pg_inherits h where h.inhparent = c.oid)),
    'isValid', x.indisvalid,
    'isComplete', x.indisvalid and x.indpred is null and m.amname = 'btree',
    'columns', (select json_agg(json_build_object('name', a.attname,
        'descending', (x.indoption[k.ord - 1] & 1) = 1) order by k.ord)
      from unnest(x.indkey[0:x.indnkeyatts - 1]) with ordinality k(att, ord)
      left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.att and k.att <> 0)) order by i.relname), '[]')
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam where x.indrelid = c.oid)`)

const checksOf =
  raw(`(select coalesce(json_agg(pg_get_constraintdef(con.oid) order by con.conname), '[]')
  from pg_constraint con where con.conrelid = c.oid and con.contype = 'c')`)

const referencesOf = raw(`(select coalesce(json_agg(json_build_object('name', con.conname,
    'columns', (select json_agg(a.attname order by k.ord) from unnest(con.conkey) with ordinality k(att, ord)
      join pg_attribute a on a.attrelid = con.conrelid and a.attnum = k.att),
    'target', con.confrelid::text, 'targetName', con.confrelid::regclass::text,
    'isImmediate', con.convalidated and not con.condeferred
      and coalesce(to_jsonb(con) ->> 'conenforced', 'true') = 'true', 'action', con.confdeltype,
    'targetColumns', (select json_agg(a.attname order by k.ord) from unnest(con.confkey) with ordinality k(att, ord)
      join pg_attribute a on a.attrelid = con.confrelid and a.attnum = k.att)) order by con.conname), '[]')
  from pg_constraint con where con.conrelid = c.oid and con.contype = 'f')`)
