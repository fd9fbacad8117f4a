import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isStorageError } from '../../storage/adapter.ts'
import {
  conditionProblem,
  tableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../../storage/problem.ts'
import { identifier, join, quoted, raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import {
  rowsOf,
  type Connection,
  type SqliteRow,
} from '../../storage/sqlite/connection/connection.ts'
import { readFailure } from '../../storage/sqlite/connection/failure.ts'
import { fitCondition } from '../../storage/sqlite/forms/forms.ts'
import { slowReason, slowViews, type ReadView } from '../../storage/sqlite/reading/slow-views.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import type { FoundTables } from '../database.ts'
import { inspectTables as inspect, type Inspector } from '../inspect.ts'
import type { InspectedTable } from '../inspected-table.ts'
import { collectionMistakes } from '../mistakes.ts'
import type { Table } from '../model.ts'
import { guaranteesOf } from './guarantees.ts'
import { encodingMistake } from './read.ts'
import { readTables } from './read-tables.ts'
import { allSlowConditions } from './slow-conditions.ts'
import { checkStatements } from './statement-check.ts'
import {
  bytesFunction,
  bytesOf,
  formAdvice,
  isFieldJson,
  jsonFunction,
  misfitCondition,
  pathFunction,
  pathLength,
  unreachableKeys,
} from './unfit-rows.ts'

/** How the tables of a database are read. */
export interface TableReads {
  /** Runs work on a connection when it can read. */
  readonly read: <Result>(work: (connection: Connection) => Result) => Promise<Result>
  /** Milliseconds that reading a view may take. */
  readonly viewTime: number
}

/** Looks for what {@link StorageProblem} lists. Reads only. */
export async function inspectTables(
  collections: readonly PublishedCollection[],
  reads: TableReads,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const encoding = await reads.read(encodingMistake)
  const tables = await reads.read((connection) => {
    connection.define(bytesFunction, bytesOf)
    connection.define(jsonFunction, isFieldJson)
    connection.define(pathFunction, pathLength)
    return readTables(connection, collections)
  })
  const guarantees = guaranteesOf(tables, collections)
  const guaranteed = new Set(
    Array.from(guarantees).flatMap(([field, guarantee]) => (guarantee === 'fit' ? [field] : [])),
  )
  const context = { ...reads, tables, collections, encoding, guaranteed }
  const views = collections.flatMap((collection) => viewOf(collection, tables))
  const slow = await reads.read((connection) => slowViews(connection, views, reads.viewTime))
  return inspect(collections, inspectorOf(context, new Set(slow)), progress)
}

/** What is known of the tables that are inspected. */
interface Context extends TableReads {
  readonly tables: FoundTables
  readonly collections: readonly PublishedCollection[]
  readonly encoding: string | undefined
  /** The fields whose columns accept only values that fit. */
  readonly guaranteed: ReadonlySet<PublishedField>
}

function inspectorOf(context: Context, slow: ReadonlySet<string>): Inspector {
  const { tables, collections, encoding, read, viewTime } = context
  return {
    async prepare(collection, add) {
      const table = tables.find(collection.table)
      if (table?.failure !== undefined) return table.failure
      const own = collectionMistakes(tables, collection, collections)
      const mistakes = encoding === undefined ? own : [encoding, ...own]
      add(mistakes.map((message) => tableProblem(collection, message)))
      if (table === undefined) return undefined
      if (slow.has(collection.table)) return `${slowReason(viewTime)} (scanTimeout)`
      const scans = await read((connection) => allSlowConditions(connection, tables, collection))
      add(scans.map(conditionProblem))
      const checked = await read((connection) => checkStatements(connection, table, collection))
      if (checked.unreadable !== undefined) return checked.unreadable
      add(checked.mistakes.map((message) => tableProblem(collection, message)))
      return undefined
    },
    // Such as a value that a function of SQLite rejects.
    async attempt(inspected, work) {
      const found = inspected.flatMap((one) => inspectedTable(context, one))
      if (found.length < inspected.length) return undefined
      try {
        await work(found)
        return undefined
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error) || isStorageError(error)) throw error
        return readFailure(error)
      }
    },
  }
}

function viewOf({ table }: PublishedCollection, tables: FoundTables): readonly ReadView[] {
  const { kind, columns, failure } = tables.find(table) ?? {}
  if (kind !== 'view' || columns === undefined || failure !== undefined) return []
  return [{ name: table, columns: columns.map(({ name }) => name) }]
}

function inspectedTable(
  { tables, read, guaranteed, encoding }: Context,
  collection: PublishedCollection,
): readonly InspectedTable[] {
  const found = tables.find(collection.table)
  if (found === undefined) return []
  const rows = (statement: Sql): Promise<readonly SqliteRow[]> =>
    read((connection) => rowsOf(connection, statement.texts.join('')))
  const from = identifier(collection.table)
  const shown = ({ column }: PublishedField): Sql => raw(`substr(quote(${quoted(column)}), 1, 60)`)
  const own = {
    collection,
    found,
    fields: collection.fields.filter(({ column }) => found.find(column) !== undefined),
    from,
    rows,
  }
  return [
    {
      ...own,
      stored: ({ column }) => identifier(column),
      shown,
      repeated: shown,
      literal: (_, value) => String(value),
      grouped: (field) => columnTypeOf(field).exactly(identifier(field.column)),
      absent,
      misfits(field) {
        const condition = misfitCondition(field, guaranteed, encoding === undefined)
        return condition === undefined ? undefined : raw(condition)
      },
      unreachable: () => unreachableKeys(collection),
      advice: (field) => formAdvice(own, field),
      isAlwaysRead: false,
      computed: [],
      parts: () => partsOf(found, from, rows),
    },
  ]
}

// Many rows at once would block the event loop, and show no progress.
const rowsAtOnce = 50_000

const [lowest, highest] = ['-9223372036854775808', '9223372036854775807']

/** Returns the conditions of parts of a table: each is a range of the numbers of its rows, if it has any. */
async function* partsOf(
  { kind, withoutRowId, identity }: Table,
  from: Sql,
  rows: InspectedTable['rows'],
): AsyncGenerator<Sql> {
  const [rowId] = kind === 'table' && withoutRowId !== true ? (identity ?? []) : []
  if (rowId === undefined) {
    yield sql`1 = 1`
    return
  }
  const number = raw(rowId)
  const bound = (text: string): Sql => raw(`cast('${text}' as integer)`)
  let last = lowest
  while (last !== highest) {
    const above = sql`${number} > ${bound(last)}`
    const next = sql`select cast(${number} as text) from ${from} where ${above} order by ${number} limit 1 offset ${raw(String(rowsAtOnce - 1))}`
    const [[end = highest] = []] = await rows(next)
    last = String(end)
    yield sql`${above} and ${number} <= ${bound(last)}`
  }
}

/** Returns the condition that no row has the key of a reference. */
function absent({ fields, to }: Reference, target: InspectedTable): Sql {
  const isSameForm = fields.every((field, index) => {
    const key = to.key[index]
    return key !== undefined && formOf(field) === formOf(key)
  })
  const expression = (field: PublishedField): Sql => {
    const { exactly, read } = columnTypeOf(field)
    return (isSameForm ? exactly : read)(identifier(field.column))
  }
  const keys = to.key.map((field) => (isSameForm ? identifier(field.column) : expression(field)))
  const present = to.key.map(({ column }) => sql`${identifier(column)} is not null`)
  return sql`(${join(fields.map(expression))}) not in (select ${join(keys)} from ${target.from} where ${join(present, raw(' and '))})`
}

// Two columns hold equal values in the same form if their conditions are the same.
function formOf({ type, definition }: PublishedField): string {
  return `${type} ${fitCondition('', definition)}`
}
