import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { runsCode } from '../../storage/postgres/dialect.ts'
import { namedColumns, partitions } from './named-columns.ts'

/** Returns the query for all that is known of the tables that meet a condition: a row with JSON for each of them. */
export function catalogueQuery(condition: Sql): Sql {
  return sql`select json_build_object('oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
    'parent', (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid and c.relispartition),
    'extension', (select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'),
    'isDeletable', has_table_privilege(c.oid, 'delete'), 'policies', ${policiesOf},
    'rows', nullif(c.reltuples, -1), 'runsCode', ${runsCode}, 'hasPolicies', row_security_active(c.oid), 'identity', ${identity},
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

// The provider `b` has collations of code points only. Before version 15, every database has the provider `c`.
const isInOrder = `coalesce(case co.collprovider
    when 'c' then co.collcollate in ('C', 'POSIX') when 'b' then true
    when 'd' then (select case coalesce(to_jsonb(db) ->> 'datlocprovider', 'c') when 'b' then true
      when 'c' then db.datcollate in ('C', 'POSIX') end from pg_database db where db.datname = current_database()) end, false)`

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
    'collation', co.collname, 'isInOrder', ${isInOrder}, 'isDeterministic', co.collisdeterministic) order by a.attnum), '[]')
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
        'descending', (x.indoption[k.ord - 1] & 1) = 1,
        'hasNullOrder', (x.indoption[k.ord - 1] & 1) <> ((x.indoption[k.ord - 1] >> 1) & 1),
        'collation', (select ic.collname from pg_collation ic where ic.oid = x.indcollation[k.ord - 1])) order by k.ord)
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
