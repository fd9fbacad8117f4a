import type { CatalogueReference } from '../catalogue-tables.ts'
import { bind, type Connection, type TextRow } from '../../storage/pool/connection.ts'
import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { quoted } from '../../storage/mysql/dialect.ts'

// The places of the name of a foreign key, and of its delete rule, in a row. The first place has the table.
const [keyPlace, rulePlace] = [1, 6]

/**
 * Reads the foreign keys of the tables of a database: a row for each column, with the name of the table first, as
 * {@link foreignKeyOf} takes them.
 */
export async function readForeignKeys(
  connection: Connection,
  schema: string,
  where: Sql,
): Promise<readonly TextRow[]> {
  return withDeleteRules(connection, schema, await connection.rows(bind(foreignKeysIn(where))))
}

function foreignKeysIn(where: Sql): Sql {
  return sql`select k.table_name, k.constraint_name, k.column_name, k.referenced_table_schema,
      k.referenced_table_name, k.referenced_column_name, r.delete_rule
    from information_schema.key_column_usage as k left join information_schema.referential_constraints as r
      on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name
      and r.table_name = k.table_name
    where ${where} and k.referenced_table_name is not null
    order by k.table_name, k.constraint_name, k.ordinal_position`
}

/**
 * Returns the rows of foreign keys with what a delete of the referenced row does. The catalogue does not show that to a
 * user who may only read the table, but the statement that creates the table does.
 */
async function withDeleteRules(
  connection: Connection,
  schema: string,
  rows: readonly TextRow[],
): Promise<readonly TextRow[]> {
  const hidden = rows.filter((row) => row[rulePlace] === null).map(([table]) => String(table))
  const texts = new Map<string, string>()
  for (const table of new Set(hidden)) {
    const place = raw(`${quoted(schema)}.${quoted(table)}`)
    const [row] = await connection.rows(bind(sql`show create table ${place}`))
    texts.set(table, String(row?.[1]))
  }
  return rows.map((row) => {
    const text = texts.get(String(row[0]))
    return text === undefined || row[rulePlace] !== null
      ? row
      : row.with(rulePlace, ruleIn(text, String(row[keyPlace])))
  })
}

/** Returns the rule of a foreign key in the statement that creates its table. */
function ruleIn(text: string, name: string): string {
  const start = `  CONSTRAINT ${quoted(name)} FOREIGN KEY `
  const line = text.split('\n').find((each) => each.startsWith(start)) ?? ''
  return / ON DELETE ([A-Z ]+?)(?: ON UPDATE [A-Z ]+)?,?$/.exec(line)?.[1] ?? 'RESTRICT'
}

const actions: Readonly<Record<string, CatalogueReference['onDelete']>> = {
  RESTRICT: 'restrict',
  'NO ACTION': 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
  'SET DEFAULT': 'setDefault',
}

/** Returns a foreign key of its rows without their first value. `own`: the schema of its table. */
export function foreignKeyOf(
  name: string,
  rows: readonly TextRow[],
  own: string | null | undefined,
): CatalogueReference {
  const [, schema, table, , rule] = rows[0] as TextRow
  return {
    name,
    columns: rows.map(([column]) => String(column)),
    target: `${schema}.${table}`,
    targetName: schema === own ? String(table) : `${schema}.${table}`,
    targetColumns: rows.map(([, , , target]) => String(target)),
    onDelete: actions[String(rule)] ?? 'restrict',
  }
}
