import type { FieldTypeName } from '../../definition/field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Row } from '../adapter.ts'
import { bind, type Connection } from '../pool/connection.ts'
import { cutsSpaces } from '../../schema/column-limits.ts'
import type {
  Dialect,
  JoinedInsert,
  LackingIndex,
  OrderColumn,
  PlacedColumn,
  Tables,
} from '../sql/dialect.ts'
import { unavailable } from '../pool/failure.ts'
import {
  both,
  join,
  literal,
  literalText,
  quoted,
  raw,
  rowsOf,
  sql,
  type Sql,
} from '../sql/fragments.ts'
import { hasOrderOf, isInOrder } from '../sql/page-order.ts'
import { columnOf, placeOf } from '../sql/table-conditions.ts'
import type { Table } from '../../schema/model.ts'
import { columnKinds, kindOf } from '../../schema/postgres/column-kinds.ts'
import { columnTypes, listSlot } from '../../schema/postgres/column-types.ts'
import { postgresErrors } from './failure.ts'
import { joinedReads, joinedUpdates } from './joined.ts'
import { postgresInspection } from '../../schema/postgres/inspection.ts'
import { indexedSearches } from '../../schema/search-index.ts'

// A statement that is planned once for any values has a limit that is not known: it would be taken for a tenth of the rows, and
// a small table would be read in its order instead of by the index of a condition. Each of these has statements of its own.
const usualLimits: ReadonlySet<number> = new Set([10, 20, 25, 50, 100, 200, 500, 1000])

// Any number that other programs are unlikely to use.
const numberingLock = 7_294_104_817

const indexedTypes: readonly FieldTypeName[] = [
  ...(['text', 'integer', 'bigint', 'decimal', 'uuid', 'json'] as const),
]

// A cast to text is what a row has.
const castableTypes: ReadonlySet<string> = new Set([
  ...['text', 'varchar', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'uuid'],
  ...['date', 'time', 'timestamp', 'timestamptz', 'json', 'jsonb'],
])

/** What PostgreSQL answers differently from other databases. */
export const postgresDialect: Dialect = {
  database: 'PostgreSQL',
  storage: 'postgresStorage',
  columnTypes,
  kept: columnKinds.kept,
  advice: columnKinds.advice,
  quoted,
  writes: {
    insert(table, columns, rows) {
      if (columns.length === 0) return sql`insert into ${table} default values`
      return sql`insert into ${table} (${join(columns)}) overriding system value values ${rowsOf(rows)}`
    },
    joins: ({ runsCode }) => runsCode === false,
    joined: joinedInsert,
    joinedUpdates,
    returning: ['insert', 'update', 'delete'],
    changes: cutsSpaces,
  },
  terms: {
    ordered,
    undistinguished: (columns) =>
      columns
        .filter(({ type }) => type === 'json')
        .map(({ sql: column }) => sql`${column}::text collate "C"`),
    // An index is used only for an order that has nulls in the same place, even if the column has none.
    direction: ({ notNull, hasNullOrder = false }, descending) =>
      notNull && !hasNullOrder
        ? descending
          ? ' desc'
          : ''
        : descending
          ? ' desc nulls last'
          : ' asc nulls first',
    directionOfPresent: (descending) => (descending ? ' desc' : ''),
    equal: ({ sql: column, near, parameter }, slot) =>
      both(near?.(slot, false), sql`${column} = ${parameter(slot)}`),
    same(one, other) {
      const equal = sql`${one.sql} = ${other.sql}`
      const isStored = one.sql === one.stored && other.sql === other.stored
      if (!isStored && one.column.base === other.column.base) {
        return both(sql`${one.stored} = ${other.stored}`, equal)
      }
      // Equality of two collations must name one, with which an index of another collation is not used.
      const isMixed = one.column.collation !== other.column.collation
      return isMixed && one.isText ? sql`${equal} collate "C"` : equal
    },
    // A list is one parameter, an array.
    listSlots: () => 1,
    isIn({ sql: column, near, parameter, written }, values) {
      const slot = listSlot(values, written)
      return both(near?.(slot, true), sql`${column} = any(${parameter(slot)}[])`)
    },
    contains: (column, text) => sql`strpos(${ordered(column)}, ${text}::text) > 0`,
    startsWith: (column, text) => sql`starts_with(${ordered(column)}, ${text()}::text)`,
  },
  joined: joinedReads,
  knownLimits: usualLimits,
  textOf(value, { base }) {
    if (castableTypes.has(base)) return sql`${value}::text`
    // A cast would write other letters for a boolean, and no spaces at the end of a `char`.
    return sql`case when ${value} is not null then concat(${value}) end`
  },
  // The text is the same for any number.
  maxJoined: 1_000,
  search: {
    escaped(character) {
      if (/[A-Za-z0-9 ]/.test(character)) return character
      const hex = (character.codePointAt(0) as number).toString(16)
      return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
    },
    plain: (text, needle) => sql`strpos(lower((${text}) collate "C"), ${needle}::text) > 0`,
    matches: (text, pattern) => sql`(${text}) collate "C" ~ ${pattern}::text`,
  },
  searchIndex: {
    // The text of other types depends on settings of the session or, of an enumeration, on its labels, which may be
    // renamed. So an index can't have it.
    hasText: ({ type }, column) =>
      indexedTypes.includes(type) && (column === undefined || kindOf(column).isTextFixed === true),
    maxTexts: 32,
    method: 'gin',
    // An index with the collation "C" lacks rows with letters other than ASCII ones.
    term: (text, { searchOperators = 'gin_trgm_ops' }) =>
      `(${text}) COLLATE "C.utf8" ${searchOperators}`,
    before: ({ searchOperators }) =>
      searchOperators === undefined ? ['CREATE EXTENSION IF NOT EXISTS pg_trgm;'] : [],
    matches: (text, pattern) => sql`(${text}) collate "C.utf8" ~ ${pattern}::text`,
  },
  transactions: {
    begin: {
      snapshot: ['begin isolation level repeatable read'],
      serializable: ['begin isolation level serializable'],
    },
    needsSavepoints: true,
    checkDeferred: 'set constraints all immediate',
    // Rows of other tables may refer to a locked row meanwhile.
    lock: raw(' for no key update'),
    async commit(connection) {
      const command = await connection.command('commit')
      if (command === 'COMMIT') return
      throw unavailable(new Error('the server has undone the transaction'))
    },
    afterInsert: continueNumbers,
  },
  schema: {
    isForeignKey: () => true,
    numbered: ' GENERATED BY DEFAULT AS IDENTITY',
    indexOrder({ inKey }, descending) {
      if (inKey) return descending ? ' DESC' : ''
      return descending ? ' DESC NULLS LAST' : ' ASC NULLS FIRST'
    },
    ifMissing: 'IF NOT EXISTS ',
    tableOptions: '',
    // A longer name is cut silently.
    nameMistake(name) {
      const bytes = Buffer.byteLength(name)
      return bytes > 63 ? `has ${bytes} bytes, but PostgreSQL allows 63` : undefined
    },
    numberColumn({ name: table }, { name }) {
      const sequence = `pg_get_serial_sequence(${literalText(quoted(table))}, ${literalText(name)})`
      return [
        `ALTER TABLE ${quoted(table)} ALTER COLUMN ${quoted(name)} ADD GENERATED BY DEFAULT AS IDENTITY;`,
        `SELECT setval(${sequence}, max(${quoted(name)})) FROM ${quoted(table)} HAVING max(${quoted(name)}) > 0;`,
      ]
    },
    rejectNull: ({ name: table }, { name }) =>
      `ALTER TABLE ${quoted(table)} ALTER COLUMN ${quoted(name)} SET NOT NULL;`,
    literal: (text) =>
      text.includes('\\') ? `E${literalText(text.replaceAll('\\', '\\\\'))}` : literalText(text),
    place: ' in a schema of the search path',
    viewText: 'is not written',
    search: indexedSearches(() => postgresDialect),
  },
  inspection: postgresInspection,
  orders: { lacking: (table, orders) => orders.map((order) => lackingIndex(table, order)) },
  estimates: {
    explain: 'explain (format json)',
    rows: (plan) => (plan as readonly { readonly Plan?: PlannedRead }[])[0]?.Plan?.['Plan Rows'],
  },
  errors: postgresErrors,
}

/** Whether a write of the table `c` of `pg_class` runs code of this table, or of tables that are parts of it. */
export const runsCode =
  raw(`(c.relkind <> 'r' or exists (select from pg_rewrite r where r.ev_class = c.oid)
  or exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal))`)

/**
 * Returns an insert of several rows that divides by zero, and so inserts none, unless the server returns each row. A
 * trigger that is new since the start may skip rows, or change them so that they do not fit.
 */
function joinedInsert(insert: Sql, { found, values, count }: JoinedInsert): Sql {
  const names = values.map((_, index) => raw(`c${index}`))
  const returned = join(values.map((value, index) => sql`${value} as ${names[index] as Sql}`))
  const table = literal(`${quoted(found.schema)}.${quoted(found.name)}`)
  const isPlain = sql`exists (select from pg_class c where c.oid = ${table}::regclass and not ${runsCode})`
  const isSure = sql`count(*) over () = ${raw(String(count))} and ${isPlain}`
  return sql`with i as (${insert} returning ${returned})
    select ${join(names)}, 1 / case when ${isSure} then 1 else 0 end from i`
}

/** Returns the index that an order lacks. Values that are equal in the first column are few, and sorted when they are read. */
function lackingIndex(
  { name: table, schema, indexes }: Table,
  columns: readonly OrderColumn[],
): LackingIndex | undefined {
  const [first] = columns
  if (first === undefined || columns.some((each) => each.sql !== each.stored)) return undefined
  if (indexes.some(({ columns: [own] }) => own !== undefined && hasOrderOf(own, first)))
    return undefined
  const terms = columns.map(({ column, isText, descending }) => {
    const collation = isText && column.isInOrder !== true ? ' COLLATE "C"' : ''
    return `${quoted(column.name)}${collation}${postgresDialect.terms.direction({ ...column, hasNullOrder: false }, descending).toUpperCase()}`
  })
  const place = `${quoted(schema)}.${quoted(table)}`
  return { statements: [`CREATE INDEX ON ${place} (${terms.join(', ')});`] }
}

interface PlannedRead {
  readonly 'Plan Rows'?: number
}

function ordered(column: PlacedColumn): Sql {
  return column.isText && !isInOrder(column) ? sql`${column.sql} collate "C"` : column.sql
}

/** Makes the sequence of a key go on above the number that a row has brought. */
async function continueNumbers(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
): Promise<void> {
  const field = collection.fields.find(({ generated }) => generated === 'database')
  const number = field && (row[field.name] ?? null)
  if (field === undefined || number === null) return
  const { numberedBy: sequence } = columnOf(placeOf(tables, collection).found, field)
  if (sequence === undefined) return
  const value = sql`${{ read: () => String(number) }}::bigint`
  const isBehind = sql`from ${raw(sequence)} as s where s.last_value < ${value} or s.last_value = ${value} and not s.is_called`
  if ((await connection.rows(bind(sql`select ${isBehind}`))).length === 0) return
  // Two transactions that set it at the same time could set it back.
  await connection.command(`select pg_advisory_xact_lock(${numberingLock})`)
  const set = sql`select setval(${literal(sequence)}::regclass, ${value}) ${isBehind}`
  await connection.rows(bind(set))
}
