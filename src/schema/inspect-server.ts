import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { hasPath } from '../request/item-path.ts'
import { isStorageError } from '../storage/adapter.ts'
import { reasonOf } from '../storage/inspection/inspect-collections.ts'
import { bind, type Connection, type TextRow } from '../storage/pool/connection.ts'
import {
  conditionProblem,
  correctThem,
  orderProblem,
  tableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../storage/problem.ts'
import type { Inspection, Tables } from '../storage/sql/dialect.ts'
import { join, raw, sql, type Sql } from '../storage/sql/fragments.ts'
import { allSlowConditions } from '../storage/sql/slow-conditions.ts'
import { slowOrders } from '../storage/sql/slow-orders.ts'
import {
  columnOf,
  name,
  placedColumn,
  placeOf,
  typeOf,
  type TablePlace,
} from '../storage/sql/table-conditions.ts'
import { inspectTables } from './inspect.ts'
import type { CheckedRows, InspectedTable, WrongRows } from './inspected-table.ts'
import { collectionMistakes } from './mistakes.ts'

/** Runs work on a connection of its own. Rejects if there is none. */
type OnConnection = <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>

/** Inspects the tables of a database behind a pool. */
export function inspectServerTables(
  onConnection: OnConnection,
  tables: Tables,
  collections: readonly PublishedCollection[],
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { inspection } = tables.dialect
  const inspector = {
    prepare(collection: PublishedCollection, add: (problems: readonly StorageProblem[]) => void) {
      const mistakes = collectionMistakes(tables, collection, collections)
      add(mistakes.map((message) => tableProblem(collection, message)))
      if (mistakes.length > 0) return Promise.resolve(undefined)
      add(
        slowOrders(tables, collection).map(({ fields, statements }) =>
          orderProblem(collection, fields, statements),
        ),
      )
      add(allSlowConditions(tables, collection).map(conditionProblem))
      return Promise.resolve(undefined)
    },
    // A statement that takes too long may cost its connection.
    async attempt(
      inspected: readonly PublishedCollection[],
      work: (found: readonly InspectedTable[]) => Promise<void>,
    ): Promise<string | undefined> {
      const areFound = inspected.every(({ table }) => tables.find(table) !== undefined)
      if (!areFound || inspection === undefined) return undefined
      return onConnection(async (connection) => {
        try {
          await work(
            inspected.map((one) => inspectedTable({ connection, tables, inspection }, one)),
          )
          return undefined
        } catch (error) {
          if (!isOfDatabase(tables, error)) throw error
          return reasonOf(error)
        }
      })
    },
  }
  return inspectTables(collections, inspector, progress)
}

// Such as the lack of a right, a division by zero in a view, or a statement that takes too long.
function isOfDatabase({ dialect: { errors } }: Tables, error: unknown): boolean {
  const isCode = error instanceof Error && 'code' in error
  return isCode || isStorageError(error) || errors.kindOf(error) !== undefined
}

// The alias of the table in statements.
const alias = 't'

/** What reads the rows of a table. */
interface Reading {
  readonly connection: Connection
  readonly tables: Tables
  readonly inspection: Inspection
}

interface ReadTable extends Reading {
  readonly collection: PublishedCollection
  readonly place: TablePlace
  rows(statement: Sql): Promise<readonly TextRow[]>
}

function inspectedTable(reading: Reading, collection: PublishedCollection): InspectedTable {
  const { connection, tables, inspection } = reading
  const place = placeOf(tables, collection, alias)
  const { found, table: from, stored } = place
  const rows = (statement: Sql): Promise<readonly TextRow[]> => connection.rows(bind(statement))
  const own = { ...reading, collection, place, rows }
  const kept = collection.fields.filter((field) => {
    const column = found.find(field.column)
    return column !== undefined && tables.dialect.kept(column, field) !== undefined
  })
  const grouped = (field: PublishedField): Sql =>
    tables.dialect.terms.ordered(placedColumn(place, field))
  return {
    ...{ collection, found, fields: kept, from, rows, stored, grouped },
    shown: stored,
    repeated: grouped,
    literal: (field, value) => literalOf(field, value as string | null),
    absent(reference, { collection: to }) {
      const other = placeOf(tables, to, 'u')
      const same = reference.fields.map((field, index) =>
        place.equals(field, other, to.key[index] as PublishedField),
      )
      return sql`not exists (select 1 from ${other.table} where ${join(same, raw(' and '))})`
    },
    misfits(field) {
      const { sql: value } = placedColumn(place, field)
      const column = columnOf(found, field)
      const unfit = inspection.misfits(value, column, field.definition)
      const present = unfit && sql`(${stored(field)} is not null and ${unfit})`
      const absent = field.inKey && !column.notNull ? sql`${stored(field)} is null` : undefined
      return present && absent ? sql`(${present} or ${absent})` : (present ?? absent)
    },
    doubts: (field) => doubtsOf(own, field),
    unreachable: () => unreachableKeys(own),
    advice: () => Promise.resolve(correctThem),
    isAlwaysRead: true,
    // A view computes only what a statement reads.
    computed: found.kind === 'table' ? [] : kept.map((field) => sql`count(${place.column(field)})`),
    async *parts(total) {
      const column = (named: string): Sql => name(place.dialect, alias, named)
      const parts = await inspection.parts(connection, { table: found, from, rows: total, column })
      yield* parts.length === 0 ? [sql`1 = 1`] : parts
    },
  }
}

const numbers: readonly string[] = ['integer', 'bigint', 'decimal', 'double']

/** Returns the text of a value as a short literal of SQL. */
function literalOf({ type }: PublishedField, text: string | null): string {
  if (text === null) return 'NULL'
  return (numbers.includes(type) ? text : `'${text.replaceAll("'", "''")}'`).slice(0, 60)
}

// The longest value of another type than text, with the comma that follows it.
const maxShortPart = 51

/** Returns the check of keys that no path can have. Their length in a path is known of their text only. */
function unreachableKeys({ collection, place, rows }: ReadTable): CheckedRows | undefined {
  const { key, maxKeyLength } = collection
  const texts = key
    .filter(({ type }) => type === 'text')
    .map((field) => placedColumn(place, field).sql)
  if (texts.length === 0) return undefined
  const columns = key.map((field) => placedColumn(place, field).sql)
  const bytes = join(
    texts.map((text) => sql`octet_length(${text})`),
    raw(' + '),
  )
  const odd = texts.map((text) =>
    key.length === 1 ? sql`${text} in ('', '.', '..')` : sql`(${text} = '' or ${text} like '%,%')`,
  )
  // A byte has three at most, percent-encoded. What is left is for parts of other types.
  const long = sql`3 * (${bytes}) > ${raw(String(maxKeyLength - maxShortPart * key.length))}`
  const doubt = sql`(${join([long, ...odd], raw(' or '))})`
  return {
    misfits: undefined,
    async doubts(part) {
      const found = await rows(
        sql`select ${join(columns)} from ${place.table} where ${part} and ${doubt}`,
      )
      const wrong = found.filter((row) => {
        const parts = key.map((field, at) => {
          const text = row[at] ?? null
          return text === null ? null : typeOf(place, field).read(text)
        })
        return !parts.includes(null) && !hasPath(collection, parts)
      })
      const examples = wrong
        .slice(0, 3)
        .map((row) => key.map((field, at) => literalOf(field, row[at] ?? null)).join(', '))
      return { count: wrong.length, examples }
    },
  }
}

/** Returns the values whose text does not fit. */
function doubtsOf(
  { place, inspection, collection, rows }: ReadTable,
  field: PublishedField,
): CheckedRows['doubts'] {
  const { sql: value } = placedColumn(place, field)
  const { read, wire } = typeOf(place, field)
  const doubt = inspection.doubtful(wire(value), field.definition)
  if (doubt === undefined) return undefined
  const { key } = collection
  const columns = [value, ...key.map((part) => place.stored(part))]
  return async (part): Promise<WrongRows> => {
    const found = await rows(
      sql`select ${join(columns)} from ${place.table} where ${part} and ${doubt}`,
    )
    const wrong = found.filter(([text = null]) => text !== null && !field.isStored(read(text)))
    const examples = wrong.slice(0, 3).map(([text = null, ...parts]) => {
      const own = key.map((each, index) => literalOf(each, parts[index] ?? null)).join(', ')
      return [own, literalOf(field, text)].filter((each) => each !== '').join(': ')
    })
    return { count: wrong.length, examples }
  }
}
