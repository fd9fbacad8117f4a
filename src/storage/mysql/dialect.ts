import type { StoredValue } from '../../definition/field-type.ts'
import type { Reference } from '../../definition/published.ts'
import { slotCount } from '../sql/conditions.ts'
import type { Dialect, ListedValues, PlacedColumn } from '../sql/dialect.ts'
import { join, raw, sql, type Slot, type Sql } from '../sql/fragments.ts'
import { folded, type Column } from '../sql/tables.ts'
import { changesText, columnTypesIn } from './column-types.ts'
import { mysqlErrors } from './failure.ts'

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
  const exact = raw(` collate ${collation}`)

  function isExact({ isText, column }: PlacedColumn): boolean {
    return !isText || column.collation === collation
  }

  // Of a column with another character set, a comparison must name the one of the collation.
  function inExact(text: Sql, { collation: own, base }: Column): Sql {
    if (base === 'uuid') return sql`cast(${text} as char(36))${exact}`
    if (own === undefined) return text
    return own.startsWith('utf8mb4_')
      ? sql`${text}${exact}`
      : sql`convert(${text} using utf8mb4)${exact}`
  }

  function ordered(column: PlacedColumn): Sql {
    if (column.column.base === 'uuid') return inExact(column.sql, column.column)
    return isExact(column) ? column.sql : inExact(column.sql, column.column)
  }

  // The first term finds rows by an index of the column, the second one compares exactly. A character that the
  // column can't hold becomes a question mark in the first one.
  function both(
    column: PlacedColumn,
    term: (text: Sql, parameter: PlacedColumn['parameter']) => Sql,
  ): Sql {
    const { parameter } = column
    if (isExact(column)) return term(column.sql, parameter)
    const [charset = ''] = (column.column.collation ?? '').split('_')
    const converted = (slot: Slot): Sql => sql`convert(${parameter(slot)} using ${raw(charset)})`
    const first = term(column.sql, charset === 'utf8mb4' ? parameter : converted)
    return sql`(${first} and ${term(ordered(column), parameter)})`
  }

  return {
    database: server,
    storage: 'mysqlStorage',
    columnTypes: columnTypesIn(collation),
    quoted,
    writes: {
      insert: (table, columns, values) =>
        sql`insert into ${table} (${join(columns)}) values (${join(values)})`,
      returning: isMariaDb ? ['insert'] : [],
      lastNumber: sql`last_insert_id()`,
      changes: changesText,
    },
    terms: {
      ordered,
      direction: (_, descending) => (descending ? ' desc' : ''),
      equal: (column, slot) => both(column, (text, parameter) => sql`${text} = ${parameter(slot)}`),
      same(one, other) {
        if (!one.isText) return sql`${one.sql} = ${other.sql}`
        if (isExact(one)) return sql`${one.sql} = ${ordered(other)}`
        if (one.column.collation !== other.column.collation) {
          return sql`${ordered(one)} = ${ordered(other)}`
        }
        return sql`(${one.sql} = ${other.sql} and ${ordered(one)} = ${ordered(other)})`
      },
      listSlots: slotCount,
      isIn(column, values, length) {
        if (length === 0) return sql`1 = 0`
        const slots = listOf(column, values, slotCount(length))
        return both(column, (text, parameter) => sql`${text} in (${join(slots.map(parameter))})`)
      },
      contains: (column, text) => sql`instr(${ordered(column)}, ${text}) > 0`,
      startsWith: (column, text) =>
        sql`${ordered(column)} like ${text((start) => `${start.replace(/[|%_]/g, '|$&')}%`)} escape '|'`,
    },
    search: {
      escaped(character) {
        if (/[A-Za-z0-9 ]/.test(character)) return character
        return `\\x{${(character.codePointAt(0) as number).toString(16)}}`
      },
      matches(text, pattern) {
        const searched = sql`convert(${text} using utf8mb4)${exact}`
        return isMariaDb
          ? sql`${searched} regexp ${pattern}`
          : sql`regexp_like(${searched}, ${pattern}, 'c')`
      },
    },
    transactions: {
      begin: 'start transaction',
      needsSavepoints: false,
      commit: async (connection) => {
        await connection.command('commit')
      },
    },
    schema: {
      ifMissing: isMariaDb ? 'IF NOT EXISTS ' : '',
      tableOptions: ` ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=${collation}`,
      isForeignKey: isInnoDbKey,
      numbered: 'AUTO_INCREMENT',
      indexOrder: (_, descending) => (descending ? ' DESC' : ''),
      nameMistake(name) {
        const { length } = Array.from(name)
        return length > 64 ? `has ${length} characters, but ${server} allows 64` : undefined
      },
      numberColumn: ({ name: table }, { name, declared }) =>
        `ALTER TABLE ${quoted(table)} MODIFY COLUMN ${quoted(name)} ${declared} NOT NULL AUTO_INCREMENT;`,
      rejectNull: ({ name: table }, { name, declared }) =>
        `ALTER TABLE ${quoted(table)} MODIFY COLUMN ${quoted(name)} ${declared} NOT NULL;`,
      place: 'in the database',
    },
    estimates: { explain: 'explain format=json', rows: plannedRows },
    errors: mysqlErrors,
  }
}

// InnoDB rejects the delete of a row that refers to itself, and compares the bytes of decimals, which depend on
// their precision.
function isInnoDbKey({ from, fields, to }: Reference): boolean {
  if (folded(from.table) === folded(to.table)) return false
  return fields.every(({ definition }, index) => {
    const target = to.key[index]?.definition
    if (definition.type !== 'decimal' || target?.type !== 'decimal') return true
    return definition.precision === target.precision && definition.scale === target.scale
  })
}

/** A table in the plan of a statement: MariaDB and MySQL name the rows differently. */
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

/** Returns the rows that a plan expects of a statement with one table; undefined for more tables. */
function plannedRows(plan: unknown): number | undefined {
  const { query_block: block = {} } = plan as { readonly query_block?: PlannedBlock }
  const tables = [block, ...(block.nested_loop ?? [])].flatMap(({ table = [] }) => table)
  const [only] = tables
  const rows = only?.rows ?? only?.rows_examined_per_scan
  if (rows === undefined || tables.length > 1) return undefined
  return Math.round((rows * Number(only?.filtered ?? 100)) / 100)
}

/** Returns a name in quotes. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
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
