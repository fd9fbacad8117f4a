import type { OnDelete } from '../../definition/field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { bind, type Connection } from '../sql/connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { raw, sql, type Sql } from '../sql/fragments.ts'
import { statementTexts } from '../sql/shape.ts'
import { finder, folded, searchPrefix, type Column, type Index, type Table } from '../sql/tables.ts'
import { listSlot } from './column-types.ts'
import { postgresDialect } from './dialect.ts'

interface TableRow {
  readonly oid: string
  readonly schema: string
  readonly name: string
  readonly kind: string
  readonly columns: readonly ColumnRow[]
  readonly indexes: readonly (Index & {
    readonly name: string
    readonly isValid: boolean
    readonly isComplete: boolean
  })[]
  readonly constraints: readonly {
    readonly name: string
    readonly columns: readonly string[]
    readonly foreign: {
      readonly target: string
      readonly targetColumns: readonly string[]
      readonly onDelete: string
    } | null
  }[]
}

interface ColumnRow extends Omit<Column, 'scale' | 'numberedBy' | 'collation' | 'isDeterministic'> {
  /** The modifier of the type: of a precision and a scale, or of the digits of seconds. -1: none. */
  readonly modifier: number
  readonly numberedBy: string | null
  readonly collation: string | null
  readonly isDeterministic: boolean | null
}

/** Reads the tables of collections that the search path of the connection finds. */
export async function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
): Promise<Tables> {
  const names = [...new Set(collections.map(({ table }) => folded(table)))]
  const rows = await connection.rows(bind(catalogue(names)))
  const tables = rows.map(([text]) => tableOf(JSON.parse(text as string) as TableRow))
  const texts = statementTexts(collections.length)
  const searchOperators = collections.some(({ hasSearchIndex }) => hasSearchIndex)
    ? await operatorClass(connection)
    : undefined
  return { dialect: postgresDialect, texts, searchOperators, find: finder(tables) }
}

/** Returns the operator class of trigrams with its schema. Undefined if the extension is not installed. */
async function operatorClass(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.rows(
    bind(sql`select quote_ident(n.nspname) || '.gin_trgm_ops' from pg_extension e
      join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`),
  )
  return row?.[0] ?? undefined
}

const kinds: Readonly<Record<string, Table['kind']>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'view',
}

const actions: Readonly<Record<string, OnDelete>> = {
  a: 'restrict',
  r: 'restrict',
  c: 'cascade',
  n: 'setNull',
}

function tableOf({ oid, kind, columns, indexes, constraints, ...table }: TableRow): Table {
  const named = [
    ...indexes.map((one) => [one.name, one.columns.map(({ name }) => name ?? '')] as const),
    ...constraints.map((one) => [one.name, one.columns] as const),
  ]
  return {
    ...table,
    id: oid,
    kind: kinds[kind] ?? 'other',
    find: finder(columns.map(columnOf)),
    indexes: indexes.filter(({ isComplete }) => isComplete),
    searchIndexes: indexes
      .filter(({ name, isValid }) => isValid && name.startsWith(searchPrefix))
      .map(({ name }) => name),
    foreignKeys: constraints.flatMap(({ columns: own, foreign }) =>
      foreign === null ? [] : [{ ...foreign, columns: own, onDelete: actions[foreign.onDelete] }],
    ),
    constraints: new Map(named),
  }
}

function columnOf({
  modifier,
  numberedBy,
  collation,
  isDeterministic,
  ...column
}: ColumnRow): Column {
  return {
    ...column,
    scale: scaleOf(column.base, modifier),
    numberedBy: numberedBy ?? undefined,
    collation: collation ?? undefined,
    isDeterministic: isDeterministic ?? true,
  }
}

function scaleOf(base: string, modifier: number): number | undefined {
  if (modifier < 0) return undefined
  return base === 'numeric' ? (modifier - 4) & 2047 : modifier
}

function catalogue(names: readonly string[]): Sql {
  return sql`select json_build_object('oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
    'columns', ${columnsOf}, 'indexes', ${indexesOf}, 'constraints', ${constraintsOf})::text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid)
      and lower(c.relname::text collate "C") = any(${listSlot(() => names)}::text[])
      and n.nspname not in ('pg_catalog', 'information_schema')
    order by c.relname`
}

const columnsOf = raw(`(select coalesce(json_agg(json_build_object(
    'name', a.attname, 'declared', format_type(a.atttypid, a.atttypmod), 'base', coalesce(bt.typname, t.typname),
    'modifier', case when t.typtype = 'd' then t.typtypmod else a.atttypmod end,
    'notNull', a.attnotnull or t.typnotnull,
    'hasDefault', a.atthasdef or a.attidentity <> '' or t.typdefault is not null, 'isComputed', a.attgenerated <> '',
    'numberedBy', case when c.relkind in ('r', 'p') then
      pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) end,
    'collation', co.collname, 'isDeterministic', co.collisdeterministic) order by a.attnum), '[]')
  from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type bt on bt.oid = t.typbasetype
  left join pg_collation co on co.oid = a.attcollation
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)`)

// indoption: bit 0 is descending, bit 1 nulls first.
const indexesOf = raw(`(select coalesce(json_agg(json_build_object('name', i.relname,
    'unique', x.indisunique and x.indimmediate,
    'isValid', x.indisvalid,
    'isComplete', x.indisvalid and x.indpred is null and m.amname = 'btree',
    'columns', (select json_agg(json_build_object('name', a.attname,
        'descending', (x.indoption[k.ord - 1] & 1) = 1) order by k.ord)
      from unnest(x.indkey[0:x.indnkeyatts - 1]) with ordinality k(att, ord)
      left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.att and k.att <> 0)) order by i.relname), '[]')
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam where x.indrelid = c.oid)`)

const constraintsOf = raw(`(select coalesce(json_agg(json_build_object('name', con.conname,
    'columns', (select coalesce(json_agg(a.attname order by k.ord), '[]')
      from unnest(con.conkey) with ordinality k(att, ord)
      join pg_attribute a on a.attrelid = con.conrelid and a.attnum = k.att),
    'foreign', case when con.contype = 'f' and con.convalidated and not con.condeferred
        and coalesce(to_jsonb(con) ->> 'conenforced', 'true') = 'true' then
      json_build_object('target', con.confrelid::text, 'onDelete', con.confdeltype,
        'targetColumns', (select json_agg(a.attname order by k.ord)
          from unnest(con.confkey) with ordinality k(att, ord)
          join pg_attribute a on a.attrelid = con.confrelid and a.attnum = k.att)) end) order by con.conname), '[]')
  from pg_constraint con where con.conrelid = c.oid and con.contype in ('f', 'c', 'x'))`)
