import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'

/** The columns of an index or a constraint, whose name an error contains. */
export interface NamedColumns {
  readonly name: string
  readonly columns: readonly string[]
  readonly isIndex: boolean
}

/** A partition of a table. Errors name the partition and its indexes, not the table and its indexes. */
export interface Partition {
  readonly schema: string
  readonly name: string
  readonly constraints: readonly NamedColumns[]
}

// With a part that is an expression, those are named that the index reads: only then does it depend on them all.
const indexes = (relation: string): string => `select i.relname as name,
    (select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a where a.attrelid = x.indrelid
      and (a.attnum = any(x.indkey[0:x.indnkeyatts - 1]) or 0 = any(x.indkey) and exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = x.indexrelid and d.refclassid = 'pg_class'::regclass
        and d.refobjid = x.indrelid and d.refobjsubid = a.attnum))) as columns, true as "isIndex"
  from pg_index x join pg_class i on i.oid = x.indexrelid
  where x.indrelid = ${relation}`

const constraints = (relation: string): string => `select con.conname,
    (select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a
      where a.attrelid = con.conrelid and a.attnum = any(con.conkey)), false
  from pg_constraint con where con.conrelid = ${relation} and con.contype in ('f', 'c')`

function namedIn(relation: string): string {
  return `(select coalesce(json_agg(json_build_object('name', k.name, 'columns', k.columns, 'isIndex', k."isIndex") order by k.name), '[]')
    from (${indexes(relation)} union all ${constraints(relation)}) as k)`
}

/** The {@link NamedColumns} of the table `c` of a statement, as JSON. */
export const namedColumns: Sql = raw(namedIn('c.oid'))

/** The {@link Partition}s of the table `c` of a statement, at every level, as JSON. */
export const partitions: Sql = sql`(select coalesce(json_agg(json_build_object('schema', own.nspname, 'name', p.relname,
    'constraints', ${raw(namedIn('p.oid'))}) order by p.oid), '[]')
  from pg_partition_tree(c.oid) as tree join pg_class p on p.oid = tree.relid
  join pg_namespace own on own.oid = p.relnamespace where c.relkind = 'p' and tree.level > 0)`
