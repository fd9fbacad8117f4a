import type { StoredValue } from '../../definition/field-type.ts'
import type { Reference } from '../../definition/published.ts'
import { slotCount } from '../sql/conditions.ts'
import type {
  Dialect,
  ListedValues,
  PlacedColumn,
  SearchTerms,
  Terms,
  Transactions,
  TypedColumn,
} from '../sql/dialect.ts'
import { both, join, raw, rowsOf, sql, type Slot, type Sql } from '../sql/fragments.ts'
import type { Column, Table, TableLookup } from '../../schema/model.ts'
import { canIndex, changesValue, columnKinds } from '../../schema/mysql/column-kinds.ts'
import {
  columnTypesIn,
  described,
  haveSameBytes,
  maxIndexedCharacters,
} from '../../schema/mysql/column-types.ts'
import { mysqlErrors } from './failure.ts'
import { joinedReads, joinedUpdates } from './joined.ts'
import { mysqlOrders } from './orders.ts'
import { mysqlInspection } from '../../schema/mysql/inspection.ts'

/** The servers that understand the dialect, with their differences. */
export type MysqlServer = 'MariaDB' | 'MySQL'

/** The collations that order by code point and distinguish any two strings. */
export const exactCollations: Readonly<Record<MysqlServer, string>> = {
  MariaDB: 'utf8mb4_nopad_bin',
  MySQL: 'utf8mb4_0900_bin',
}

/** What MariaDB or MySQL answers differently from other databases. */
export function mysqlDialect(server: MysqlServer): Dialect {
  const isMariaDb = server === 'MariaDB'
  const collation = exactCollations[server]
  const columnTypes = columnTypesIn(collation)

  return {
    database: server,
    storage: 'mysqlStorage',
    columnTypes,
    kept: (column, field) => columnKinds.kept(column, field, { collation, types: columnTypes }),
    advice: columnKinds.advice,
    quoted,
    writes: {
      insert: (table, columns, rows) =>
        sql`insert into ${table} (${join(columns)}) values ${rowsOf(rows)}`,
      returning: isMariaDb ? ['insert'] : [],
      // No trigger can skip a row or change the order.
      joins: ({ kind }) => kind === 'table',
      joinedUpdates,
      lastNumber: sql`last_insert_id()`,
      changes: changesValue,
    },
    terms,
    joined: joinedReads,
    // Each is a part of the text, which the server parses.
    maxJoined: 32,
    search: searchTerms(server),
    transactions,
    schema: {
      ifMissing: isMariaDb ? 'IF NOT EXISTS ' : '',
      tableOptions: ` ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=${collation}`,
      isForeignKey: isInnoDbKey,
      canIndex,
      prefixIndex,
      canRefer: (declared, target) => haveSameBytes({ ...described(declared), declared }, target),
      numbered: ' AUTO_INCREMENT',
      indexOrder: (_, descending) => (descending ? ' DESC' : ''),
      nameMistake(name) {
        const { length } = Array.from(name)
        return length > 64 ? `has ${length} characters, but ${server} allows 64` : undefined
      },
      numberColumn: (table, column) => [
        modifyColumn(table, { ...column, default: undefined }, 'NOT NULL AUTO_INCREMENT'),
      ],
      rejectNull: (table, column) => modifyColumn(table, column, 'NOT NULL'),
      literal: (text) =>
        text.includes('\\')
          ? `convert(X'${Buffer.from(text).toString('hex')}' using utf8mb4)`
          : `'${text.replaceAll("'", "''")}'`,
      place: ' in the database',
      viewText: 'is not written',
    },
    inspection: mysqlInspection(isMariaDb),
    orders: mysqlOrders({ quoted, collation }),
    estimates: { explain: 'explain format=json', rows: plannedRows },
    errors: mysqlErrors,
  }
}

// Such a start finds few rows in most tables, and the index stays small.
const prefixLength = 100

/** Returns the statement that creates an index with the starts of the values that are too long for one. */
function prefixIndex(table: string, columns: readonly Column[]): string {
  const length = Math.min(prefixLength, Math.floor(maxIndexedCharacters / columns.length))
  const terms = columns.map((column) =>
    canIndex(column, columns.length) ? quoted(column.name) : `${quoted(column.name)}(${length})`,
  )
  return `ALTER TABLE ${quoted(table)} ADD INDEX (${terms.join(', ')});`
}

const transactions: Transactions = {
  begin: {
    snapshot: ['start transaction'],
    serializable: ['set transaction isolation level serializable', 'start transaction'],
  },
  needsSavepoints: false,
  lock: raw(' for update'),
  commit: async (connection) => {
    await connection.command('commit')
  },
}

const terms: Terms = {
  ordered,
  undistinguished,
  sortsWhole: true,
  direction: (_, descending) => (descending ? ' desc' : ''),
  equal: ({ sql: column, near, parameter }, slot) =>
    both(near?.(slot, false), sql`${column} = ${parameter(slot)}`),
  same(one, other) {
    const equal = sql`${one.sql} = ${other.sql}`
    return isConverted(one) && one.column.collation === other.column.collation
      ? both(sql`${one.stored} = ${other.stored}`, equal)
      : equal
  },
  listSlots: slotCount,
  isIn(column, values, length) {
    if (length === 0) return sql`1 = 0`
    const { near, parameter } = column
    const slots = listOf(column, values, slotCount(length))
    const found = near && slots.flatMap((slot) => near(slot, false) ?? [])
    const first = found && sql`(${join(found, sql` or `)})`
    return both(first, sql`${column.sql} in (${join(slots.map(parameter))})`)
  },
  contains: ({ sql: column }, text) => sql`instr(${column}, ${text}) > 0`,
  startsWith: (column, text) =>
    sql`${ordered(column)} like ${text((start) => `${start.replace(/[|%_]/g, '|$&')}%`)} escape '|'`,
}

function ordered({ sql: column, inOrder }: PlacedColumn): Sql {
  return inOrder?.sql ?? column
}

/** Returns how a server searches. */
function searchTerms(server: MysqlServer): SearchTerms {
  const exact = raw(` collate ${exactCollations[server]}`)
  return {
    escaped(character) {
      if (/[A-Za-z0-9 ]/.test(character)) return character
      return `\\x{${(character.codePointAt(0) as number).toString(16)}}`
    },
    matches(text, pattern) {
      const searched = sql`convert(${text} using utf8mb4)${exact}`
      return server === 'MariaDB'
        ? sql`${searched} regexp ${pattern}`
        : sql`regexp_like(${searched}, ${pattern}, 'c')`
    },
  }
}

// Only so many bytes of a string are sorted.
const longTexts: readonly string[] = ['mediumtext', 'longtext']

/** Returns a digest of the values that an order does not distinguish. */
function undistinguished(columns: readonly TypedColumn[]): readonly Sql[] {
  const values = columns
    .filter(({ type, column }) => type === 'json' || longTexts.includes(column.base))
    .map(({ sql: column }) => sql`coalesce(${column}, '')`)
  return values.length === 0
    ? []
    : [sql`sha2(concat_ws(char(0 using utf8mb4), ${join(values)}), 256)`]
}

// InnoDB rejects the delete of a row that refers to itself, and compares the bytes of decimals, which depend on
// their precision.
function isInnoDbKey(
  { from, fields, to }: Reference,
  identityOf: TableLookup['identityOf'],
): boolean {
  if (identityOf(from.table) === identityOf(to.table)) return false
  return fields.every(({ definition }, index) => {
    const target = to.key[index]?.definition
    if (definition.type !== 'decimal' || target?.type !== 'decimal') return true
    return definition.precision === target.precision && definition.scale === target.scale
  })
}

/** A table in the plan of a statement: MariaDB and MySQL before 9 name the rows differently. */
interface PlannedTable {
  readonly rows?: number
  readonly rows_examined_per_scan?: number
  /** How many of them meet the conditions, in percent. MySQL writes it as text. */
  readonly filtered?: number | string
}

interface PlannedBlock {
  readonly table?: PlannedTable
  readonly nested_loop?: readonly { readonly table?: PlannedTable }[]
}

/** A step in the plan of MySQL from 9 on. */
interface PlannedStep {
  readonly table_name?: string
  readonly estimated_rows?: number
  readonly inputs?: readonly PlannedStep[]
}

/** Returns the rows that a plan expects of a statement with one table; undefined for more tables. */
function plannedRows(plan: unknown): number | undefined {
  const { query_block: block = {}, query_plan: step } = plan as {
    readonly query_block?: PlannedBlock
    readonly query_plan?: PlannedStep
  }
  if (step !== undefined) {
    const [first = step, ...others] = step.inputs ?? []
    if (first.table_name === undefined || others.length > 0) return undefined
    return Math.round(step.estimated_rows ?? 0)
  }
  const tables = [block, ...(block.nested_loop ?? [])].flatMap(({ table = [] }) => table)
  const [only] = tables
  const rows = only?.rows ?? only?.rows_examined_per_scan
  if (rows === undefined || tables.length > 1) return undefined
  return Math.round((rows * Number(only?.filtered ?? 100)) / 100)
}

/** Returns the statement that redeclares a column: as it is, but for what follows its type. */
export function modifyColumn(
  { name: table }: Table,
  { name, type, declared, default: value, ending = '' }: Column,
  nulls: string,
): string {
  const initial = value === undefined || value === 'NULL' ? '' : ` DEFAULT ${value}`
  return `ALTER TABLE ${quoted(table)} MODIFY COLUMN ${quoted(name)} ${type ?? declared} ${nulls}${initial}${ending};`
}

/** Returns a name in quotes. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

// Strings of one collation that are equal by code points are equal by the collation too, which an index serves.
function isConverted({ isText, sql: value, stored }: PlacedColumn): boolean {
  return isText && value !== stored
}

function listOf({ written }: PlacedColumn, values: ListedValues, count: number): readonly Slot[] {
  return Array.from({ length: count }, (_, index) => ({
    read(inputs) {
      const listed = values(inputs)
      const value: StoredValue = listed[index] ?? listed.at(-1) ?? null
      return value === null ? null : written(value)
    },
  }))
}
