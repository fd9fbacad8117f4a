import type { CatalogueColumn } from '../catalogue-tables.ts'
import type { TextRow } from '../../storage/pool/connection.ts'
import { sql, type Sql } from '../../storage/sql/fragments.ts'
import { exactCollations, quoted, type MysqlServer } from '../../storage/mysql/dialect.ts'
import { expressionIn, labelsIn } from './literals.ts'

/** The name of the constraint that a column has while it is declared shorter. */
export const lengthCheck = 'rowgate_length'

/** Returns the statement that reads the columns of tables. */
export function columnsIn(kind: MysqlServer, where: Sql): Sql {
  // MariaDB has defaults as SQL writes them.
  const value =
    kind === 'MariaDB'
      ? sql`column_default`
      : sql`case
          when extra not like '%DEFAULT_GENERATED%' then if(data_type = 'bit', column_default, quote(column_default))
          when column_default like 'CURRENT_TIMESTAMP%' then column_default
          else concat('(', column_default, ')') end`
  return sql`select table_name, column_name, column_type, data_type,
      character_maximum_length, coalesce(datetime_precision, numeric_scale), is_nullable, ${value},
      extra, collation_name, generation_expression, numeric_precision, privileges,
      character_set_name, if(column_comment = '', '', concat(' COMMENT ', quote(column_comment)))
    from information_schema.columns as c where ${where} order by table_name, ordinal_position`
}

/** What was read of a table, without its name. */
export interface TableRows {
  /** The rows of {@link columnsIn}. */
  readonly columns: readonly TextRow[]
  /** The names and clauses of CHECK constraints, and `YES` if the server enforces them. */
  readonly checks: readonly TextRow[]
}

/** Returns the constraints that every row meets. */
export function enforced(checks: readonly TextRow[]): readonly TextRow[] {
  return checks.filter(([, , isEnforced]) => isEnforced === 'YES')
}

/** Returns the column of a row. */
export function columnOf(
  server: MysqlServer,
  row: TextRow,
  { columns, checks }: TableRows,
): CatalogueColumn {
  const [name, declared, base, length, scale, nullable, written, extra, collation, expression] = row
  const [precision, privileges, charset, comment] = row.slice(10)
  // The default of a column of MySQL is an expression in parentheses, or a literal.
  const value = written?.startsWith('(') === true ? expressionIn(server, written) : written
  const isNumbered = /auto_increment/i.test(String(extra))
  const labels = base === 'enum' ? labelsIn(String(declared)) : undefined
  // In MariaDB, a constraint that was declared with a column has its name, and is lost without it.
  const own = server === 'MariaDB' ? checks.filter(([constraint]) => constraint === name) : []
  const inText = typeof charset === 'string' ? ` CHARACTER SET ${charset} COLLATE ${collation}` : ''
  const others = checks.filter(([constraint]) => constraint !== lengthCheck)
  const generated = columns.map((each) => expressionIn(server, each[9] ?? ''))
  const conditions = [...others.map(([, clause]) => clause), ...generated]
  return {
    name: String(name),
    declared: String(declared),
    type: `${declared}${inText}`,
    default: value ?? undefined,
    ending: `${attributesOf(String(extra))}${comment}${own.map(([, clause]) => ` CHECK (${clause})`).join('')}`,
    // A JSON column of MariaDB is one of text with this constraint.
    isJson: enforced(checks).some(([, clause]) => clause === `json_valid(${quoted(String(name))})`),
    hasConditions:
      /on update/i.test(String(extra)) ||
      conditions.some((text) => text?.includes(quoted(String(name)))),
    base: String(base),
    scale: numberOf(scale),
    precision: numberOf(precision),
    length: numberOf(length),
    labels,
    notNull: nullable === 'NO',
    hasDefault: isNumbered || (typeof value === 'string' && value !== 'NULL' && !isZeroDate(value)),
    isComputed: typeof expression === 'string' && expression !== '',
    isReadable: isGranted('select', privileges),
    orders: isGranted('select', privileges) ? orderedBy(server, row, columns) : undefined,
    isInsertable: isGranted('insert', privileges),
    isUpdatable: isGranted('update', privileges),
    numberedBy: isNumbered ? 'auto_increment' : undefined,
    collation: collation ?? undefined,
    isDeterministic: isExact(String(base), collation ?? undefined),
  }
}

/** Returns the name of the column whose texts a generated one has in the order of code points. */
function orderedBy(
  server: MysqlServer,
  [, , base, length, , , , , collation, expression]: TextRow,
  columns: readonly TextRow[],
): string | undefined {
  if (base !== 'varchar' || collation !== exactCollations[server]) return undefined
  const text = expressionIn(server, expression ?? '')
  return columns
    .map(([name]) => String(name))
    .find((name) => {
      const [, , sourceBase, sourceLength] = columns.find(([own]) => own === name) ?? []
      const column = quoted(name)
      const forms = [column, `convert(${column} using utf8mb4)`].flatMap((form) => [
        form,
        `${form} collate ${collation}`,
      ])
      // A shorter column would cut values.
      const isWhole = Number(sourceLength) <= Number(length)
      const isText = sourceBase === 'varchar' || sourceBase === 'enum'
      return isText && isWhole && forms.some((form) => text === form || text === `(${form})`)
    })
}

// The privileges of the user and of its role.
function isGranted(privilege: string, privileges: string | null | undefined): boolean {
  return typeof privileges !== 'string' || privileges.toLowerCase().split(',').includes(privilege)
}

function numberOf(text: string | null | undefined): number | undefined {
  return typeof text === 'string' ? Number(text) : undefined
}

// What a new declaration of a column repeats: ON UPDATE and INVISIBLE.
function attributesOf(extra: string): string {
  return Array.from(
    extra.matchAll(/on update \S+|invisible/gi),
    ([attribute]) => ` ${attribute.replace(/,$/, '')}`,
  ).join('')
}

// In the modes of the connections, the server rejects a row that would get such a default.
function isZeroDate(value: string): boolean {
  return /^'?(?:0000-\d\d-\d\d|\d{4}-00-\d\d|\d{4}-\d\d-00)\b/.test(value)
}

// The server pads texts before it compares them; a column of type char keeps no spaces at the end.
function isExact(base: string, collation: string | undefined): boolean {
  if (collation === undefined || /_nopad_bin$|_0900_bin$/.test(collation)) return true
  return base === 'char' && collation.endsWith('_bin')
}
