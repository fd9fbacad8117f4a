import type { OnDelete } from '../../definition/field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { bind, type Connection, type TextRow } from '../sql/connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { join, raw, sql, type Sql } from '../sql/fragments.ts'
import { statementTexts } from '../sql/shape.ts'
import {
  finder,
  folded,
  type Column,
  type ForeignKey,
  type Index,
  type Table,
} from '../sql/tables.ts'
import { mysqlDialect, quoted, type MysqlServer } from './dialect.ts'

/** Reads the tables of collections in the database of the connection. */
export async function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
  server: MysqlServer,
): Promise<Tables> {
  const names = [...new Set(collections.map(({ table }) => folded(table)))]
  const texts = statementTexts(collections.length)
  const dialect = mysqlDialect(server)
  if (names.length === 0) return { dialect, texts, find: () => undefined }
  const list = join(names.map((name) => sql`lower(${{ read: () => name }})`))
  const read = async (statement: Sql): Promise<ReadonlyMap<string, readonly TextRow[]>> =>
    byFirst(await connection.rows(bind(statement)))
  const tables = await connection.rows(
    bind(sql`select table_name, table_schema, table_type, engine from information_schema.tables
      where table_schema = database() and lower(table_name) in (${list}) order by table_name`),
  )
  const columns = await read(columnsIn(list))
  const indexes = await read(indexesIn(list))
  const foreignKeys = await read(foreignKeysIn(list))
  const checks = await read(checksIn(list, server))
  const found = tables.map((row) => {
    const [name = ''] = row as readonly string[]
    return tableOf(row, {
      columns: columns.get(name) ?? [],
      indexes: indexes.get(name) ?? [],
      foreignKeys: foreignKeys.get(name) ?? [],
      checks: checks.get(name) ?? [],
    })
  })
  return { dialect, texts, find: finder(found) }
}

function columnsIn(list: Sql): Sql {
  return sql`select table_name, column_name, column_type, data_type,
      character_maximum_length, coalesce(datetime_precision, numeric_scale), is_nullable, column_default,
      extra, collation_name, generation_expression
    from information_schema.columns
    where table_schema = database() and lower(table_name) in (${list}) order by table_name, ordinal_position`
}

// A prefix of a column does not identify its values.
function indexesIn(list: Sql): Sql {
  return sql`select table_name, index_name, non_unique, if(sub_part is null, column_name, null), collation
    from information_schema.statistics
    where table_schema = database() and lower(table_name) in (${list})
    order by table_name, index_name, seq_in_index`
}

function foreignKeysIn(list: Sql): Sql {
  return sql`select k.table_name, k.constraint_name, k.column_name, k.referenced_table_schema,
      k.referenced_table_name, k.referenced_column_name, r.delete_rule
    from information_schema.key_column_usage as k join information_schema.referential_constraints as r
      on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name
      and r.table_name = k.table_name
    where k.table_schema = database() and lower(k.table_name) in (${list})
      and k.referenced_table_name is not null
    order by k.table_name, k.constraint_name, k.ordinal_position`
}

function checksIn(list: Sql, server: MysqlServer): Sql {
  const table = raw(server === 'MariaDB' ? 'c.table_name' : 't.table_name')
  const named =
    server === 'MariaDB'
      ? sql``
      : sql` join information_schema.table_constraints as t
          on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name
          and t.constraint_type = 'CHECK'`
  return sql`select ${table}, c.constraint_name, c.check_clause
    from information_schema.check_constraints as c${named}
    where c.constraint_schema = database() and lower(${table}) in (${list})`
}

interface Parts {
  readonly columns: readonly TextRow[]
  readonly indexes: readonly TextRow[]
  readonly foreignKeys: readonly TextRow[]
  readonly checks: readonly TextRow[]
}

const kinds: Readonly<Record<string, Table['kind']>> = { 'BASE TABLE': 'table', VIEW: 'view' }

function tableOf([name, schema, type, engine]: TextRow, parts: Parts): Table {
  const columns = parts.columns.map(columnOf)
  const indexes = Array.from(byFirst(parts.indexes), ([own, rows]) => ({ own, ...indexOf(rows) }))
  const foreignKeys = Array.from(byFirst(parts.foreignKeys), ([own, rows]) => ({
    own,
    ...foreignKeyOf(rows),
  }))
  const constraints = new Map([
    ...parts.checks.map(
      ([own, clause]) => [String(own), namedIn(String(clause), columns)] as const,
    ),
    ...foreignKeys.map(({ own, columns: listed }) => [own, listed] as const),
    ...indexes.map(
      ({ own, columns: listed }) => [own, listed.map((each) => each.name ?? '')] as const,
    ),
  ])
  const kind = kinds[String(type)] ?? 'other'
  return {
    id: `${schema}.${name}`,
    schema: String(schema),
    name: String(name),
    kind,
    mistake: kind === 'table' && engine !== 'InnoDB' ? engineMistake(name, engine) : undefined,
    find: finder(columns),
    indexes,
    foreignKeys,
    constraints,
  }
}

function engineMistake(name: string | null | undefined, engine: string | null | undefined): string {
  return `is kept by the engine ${String(engine)}, which has no transactions. Change it with\nALTER TABLE ${quoted(String(name))} ENGINE=InnoDB;`
}

function columnOf(row: TextRow): Column {
  const [name, declared, base, length, scale, nullable, value, extra, collation, expression] = row
  const isNumbered = /auto_increment/i.test(String(extra))
  return {
    name: String(name),
    declared: String(declared),
    base: String(base),
    scale: typeof scale === 'string' ? Number(scale) : undefined,
    length: typeof length === 'string' ? Number(length) : undefined,
    notNull: nullable === 'NO',
    hasDefault: isNumbered || (typeof value === 'string' && value !== 'NULL'),
    isComputed: typeof expression === 'string' && expression !== '',
    numberedBy: isNumbered ? 'auto_increment' : undefined,
    collation: collation ?? undefined,
    isDeterministic: isExact(String(base), collation ?? undefined),
  }
}

// The server pads texts before it compares them; a column of type char keeps no spaces at the end.
function isExact(base: string, collation: string | undefined): boolean {
  if (collation === undefined || /_nopad_bin$|_0900_bin$/.test(collation)) return true
  return base === 'char' && collation.endsWith('_bin')
}

function indexOf(rows: readonly TextRow[]): Index {
  return {
    unique: rows[0]?.[0] === '0',
    columns: rows.map(([, name, collation]) => ({
      name: name ?? null,
      descending: collation === 'D',
    })),
  }
}

const actions: Readonly<Record<string, OnDelete>> = {
  RESTRICT: 'restrict',
  'NO ACTION': 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
}

function foreignKeyOf(rows: readonly TextRow[]): ForeignKey {
  const [, schema, table, , rule] = rows[0] as TextRow
  return {
    columns: rows.map(([own]) => String(own)),
    target: `${schema}.${table}`,
    targetColumns: rows.map(([, , , target]) => String(target)),
    onDelete: actions[String(rule)],
  }
}

function namedIn(clause: string, columns: readonly Column[]): readonly string[] {
  return columns.map(({ name }) => name).filter((name) => clause.includes(quoted(name)))
}

/** Returns the rest of rows by their first value, in their order. */
function byFirst(rows: readonly TextRow[]): ReadonlyMap<string, readonly TextRow[]> {
  const groups = new Map<string, TextRow[]>()
  for (const [first, ...rest] of rows) {
    const name = String(first)
    const known = groups.get(name)
    if (known === undefined) groups.set(name, [rest])
    else known.push(rest)
  }
  return groups
}
