import type { PublishedCollection } from '../../definition/published.ts'
import type { CatalogueColumn, CatalogueReference, CatalogueTable } from '../catalogue-tables.ts'
import { bind, type Connection, type TextRow } from '../../storage/pool/connection.ts'
import type { Tables } from '../../storage/sql/dialect.ts'
import { join, raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { statementTexts } from '../../storage/sql/shape.ts'
import {
  exactNames,
  finder,
  folded,
  foldedNames,
  type Column,
  type Index,
  type Table,
} from '../model.ts'
import { columnOf, columnsIn, enforced, lengthCheck, type TableRows } from './catalogue-columns.ts'
import { mysqlDialect, quoted, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { foreignKeyOf, readForeignKeys } from './foreign-keys.ts'
import { expressionIn } from './literals.ts'

/**
 * Reads the tables of collections in the database of the connection, with the foreign keys that the server checks for
 * every row, or with all.
 */
export async function readTables(
  connection: Connection,
  collections: readonly PublishedCollection[],
  server: MysqlServer,
  keys: Place['keys'] = 'checked',
): Promise<Tables> {
  const wanted = [...new Set(collections.map(({ table }) => folded(table)))]
  const texts = statementTexts(collections.length)
  const dialect = mysqlDialect(server)
  const names = (await distinguishesCase(connection)) ? exactNames(collections) : foldedNames
  if (wanted.length === 0) return { dialect, texts, names, ...names([]) }
  const list = join(wanted.map((name) => sql`lower(${{ read: () => name }})`))
  const found = await tablesWhere(
    connection,
    { kind: server, schema: sql`database()`, keys },
    (name) => sql` and lower(${name}) in (${list})`,
  )
  return { dialect, texts, names, ...names(found) }
}

/** Returns whether names of tables that differ in case are different: they are the names of files. */
async function distinguishesCase(connection: Connection): Promise<boolean> {
  const [[setting] = []] = await connection.rows(bind(sql`select @@lower_case_table_names`))
  return setting === '0'
}

/** Where tables are read. */
export interface Place {
  readonly kind: MysqlServer
  readonly schema: Sql
  /** Which foreign keys the tables have: those that the server checks for every row, or all. */
  readonly keys: 'checked' | 'all'
}

/** Reads the tables of a database whose names meet a condition. */
export async function tablesWhere(
  connection: Connection,
  { kind, schema, keys }: Place,
  condition: (name: Sql) => Sql,
): Promise<readonly CatalogueTable[]> {
  const read = async (statement: Sql): Promise<ReadonlyMap<string, readonly TextRow[]>> =>
    byFirst(await connection.rows(bind(statement)))
  const where = (alias: string): Sql =>
    sql`${raw(alias)}.table_schema = ${schema}${condition(raw(`${alias}.table_name`))}`
  // Names that differ in case only are in no order of their own.
  const tables = await connection.rows(
    bind(sql`select table_name, table_schema, table_type, engine, table_rows from information_schema.tables as t
      where ${where('t')} order by table_name, binary table_name`),
  )
  const columns = await read(columnsIn(kind, where('c')))
  const indexes = await read(indexesIn(where('s')))
  const foreignKeys = byFirst(await readForeignKeys(connection, String(tables[0]?.[1]), where('k')))
  const checks = await read(checksIn(kind, schema, condition))
  const triggers = await read(triggersIn(schema, condition))
  const checkOf = ([own = null, clause, ...rest]: TextRow): TextRow => [
    own,
    expressionIn(kind, String(clause)),
    ...rest,
  ]
  return tables.map((row) => {
    const [name = ''] = row as readonly string[]
    return tableOf({ server: kind, keys }, row, {
      columns: columns.get(name) ?? [],
      indexes: indexes.get(name) ?? [],
      foreignKeys: foreignKeys.get(name) ?? [],
      checks: (checks.get(name) ?? []).map(checkOf),
      runsCode: triggers.has(name),
    })
  })
}

// A prefix of a column does not identify its values.
function indexesIn(where: Sql): Sql {
  return sql`select table_name, index_name, non_unique, column_name, sub_part is not null, collation
    from information_schema.statistics as s where ${where}
    order by table_name, index_name, seq_in_index`
}

function checksIn(kind: MysqlServer, schema: Sql, condition: (name: Sql) => Sql): Sql {
  const table = raw(kind === 'MariaDB' ? 'c.table_name' : 't.table_name')
  const named =
    kind === 'MariaDB'
      ? sql``
      : sql` join information_schema.table_constraints as t
          on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name
          and t.constraint_type = 'CHECK'`
  const enforced = raw(kind === 'MariaDB' ? `'YES'` : 't.enforced')
  return sql`select ${table}, c.constraint_name, c.check_clause, ${enforced}
    from information_schema.check_constraints as c${named}
    where c.constraint_schema = ${schema}${condition(table)}`
}

// The server shows them to users with the right TRIGGER only.
function triggersIn(schema: Sql, condition: (name: Sql) => Sql): Sql {
  return sql`select t.event_object_table from information_schema.triggers as t
    where t.event_object_schema = ${schema}${condition(raw('t.event_object_table'))} and t.event_manipulation = 'INSERT'`
}

interface Parts extends TableRows {
  readonly indexes: readonly TextRow[]
  readonly foreignKeys: readonly TextRow[]
  readonly runsCode: boolean
}

const kinds: Readonly<Record<string, Table['kind']>> = { 'BASE TABLE': 'table', VIEW: 'view' }

const readOnlyKinds: Readonly<Record<string, string>> = {
  VIEW: 'a view',
  'SYSTEM VIEW': 'a view',
  'SYSTEM VERSIONED': 'a system-versioned table',
}

function tableOf(
  { server, keys }: { readonly server: MysqlServer } & Pick<Place, 'keys'>,
  [name, schema, type, engine, rows]: TextRow,
  parts: Parts,
): CatalogueTable {
  const clauses = enforced(parts.checks).map(([, clause]) => String(clause))
  const columns = parts.columns.map((row) => columnOf(server, row, parts))
  const indexes = Array.from(byFirst(parts.indexes), ([own, rows]) => indexOf(own, rows))
  const references = Array.from(byFirst(parts.foreignKeys), ([own, rows]) =>
    foreignKeyOf(own, rows, schema),
  )
  const constraints = new Map([
    ...parts.checks.map(
      ([own, clause]) => [String(own), namedIn(String(clause), columns)] as const,
    ),
    ...references.map(({ name: own, columns: listed }) => [own, listed] as const),
    ...indexes.map(
      ({ name: own, columns: listed }) =>
        [own, listed.map((each) => each.name ?? each.prefixOf ?? '')] as const,
    ),
  ])
  const kind = kinds[String(type)] ?? 'other'
  const primary = indexes
    .find((index) => index.name === 'PRIMARY')
    ?.columns.map((each) => each.name ?? '')
  const isOther = kind === 'table' && engine !== 'InnoDB'
  return {
    id: `${schema}.${name}`,
    schema: String(schema),
    name: String(name),
    rows: rows === null ? undefined : Number(rows),
    kind,
    unwritable: isOther
      ? `is kept by the engine ${String(engine)}, which has no transactions`
      : undefined,
    makeWritable: isOther ? `ALTER TABLE ${quoted(String(name))} ENGINE=InnoDB;` : undefined,
    ...(parts.runsCode && { runsCode: true }),
    // MariaDB returns only columns that the user may insert.
    returnsInserts: columns.every(({ isInsertable }) => isInsertable !== false),
    readOnly: readOnlyKinds[String(type)],
    leftOut: type === 'SEQUENCE' ? 'a sequence' : undefined,
    columns,
    find: finder(columns),
    identity: primary?.every((own) => isReadable(own, columns)) === true ? primary : undefined,
    primary,
    references,
    checks: clauses,
    indexes,
    foreignKeys: references
      .filter(
        (key) => server === 'MariaDB' || keys === 'all' || isChecked(key, { columns, indexes }),
      )
      .map(({ onDelete, ...key }) => ({
        ...key,
        onDelete: onDelete === 'setDefault' ? undefined : onDelete,
      })),
    leftConstraints: parts.checks.map(([own]) => String(own)).filter((own) => own === lengthCheck),
    constraints,
  }
}

// The name of a prefix is empty.
function isReadable(name: string, columns: readonly CatalogueColumn[]): boolean {
  return columns.some((column) => column.name === name && column.isReadable)
}

/**
 * Returns whether MySQL checks every row of a foreign key. 9.7 does not, if it looks in an index that has further
 * columns, and one of those is null.
 */
function isChecked(
  { columns: own }: CatalogueReference,
  { columns, indexes }: Pick<Table, 'columns' | 'indexes'>,
): boolean {
  return !indexes.some(({ columns: parts }) => {
    const first = parts.slice(0, own.length).map(({ name }) => name)
    const others = parts.slice(own.length)
    return (
      own.every((name) => first.includes(name)) &&
      others.some(({ name }) => columns.find((each) => each.name === name)?.notNull !== true)
    )
  })
}

function indexOf(name: string, rows: readonly TextRow[]): Index & { readonly name: string } {
  return {
    name,
    unique: rows[0]?.[0] === '0',
    columns: rows.map(([, name = null, isPrefix, collation]) => ({
      name: isPrefix === '1' ? null : name,
      prefixOf: isPrefix === '1' ? String(name) : undefined,
      descending: collation === 'D',
    })),
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
