import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isStorageError } from '../../storage/adapter.ts'
import { inspectCollections } from '../../storage/inspection/inspect-collections.ts'
import {
  duplicateProblem,
  referenceProblem,
  tableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../../storage/problem.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import { readFailure } from '../../storage/sqlite/connection/failure.ts'
import { fitCondition } from '../../storage/sqlite/forms/forms.ts'
import {
  createInspectedTable,
  quotedValue,
  type InspectedTable,
  type ReadWith,
} from './inspected-table.ts'
import { identifier, quoted, type Sql } from '../../storage/sql/fragments.ts'
import { exactColumns, guaranteedFields } from './guarantees.ts'
import { checkStatements } from './statement-check.ts'
import { slowReason, slowViews, type ReadView } from '../../storage/sqlite/reading/slow-views.ts'
import { hasIndex } from '../compare.ts'
import type { FoundTables } from '../database.ts'
import { collectionMistakes } from '../mistakes.ts'
import { uniqueIndex } from '../wanted-indexes.ts'
import { encodingMistake } from './read.ts'
import { readTables } from './read-tables.ts'
import {
  bytesFunction,
  bytesOf,
  isFieldJson,
  jsonFunction,
  pathFunction,
  pathLength,
  unfitRows,
} from './unfit-rows.ts'

/** How the tables of a database are read. */
export interface TableReads {
  readonly read: ReadWith
  /** Milliseconds that reading a view may take. */
  readonly viewTime: number
}

/** Looks for what {@link StorageProblem} lists. Reads only. */
export async function inspectTables(
  collections: readonly PublishedCollection[],
  { read, viewTime }: TableReads,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const encoding = await read(encodingMistake)
  const tables = await read((connection) => {
    connection.define(bytesFunction, bytesOf)
    connection.define(jsonFunction, isFieldJson)
    connection.define(pathFunction, pathLength)
    return readTables(connection, collections)
  })
  const exact = exactColumns(tables, collections)
  const guaranteed = new Set(guaranteedFields(tables, collections, exact))
  const inspectedTable = (collection: PublishedCollection): InspectedTable | undefined => {
    const table = tables.find(collection.table)
    return table && createInspectedTable(collection, table, { guaranteed, read, progress })
  }
  const views = collections.flatMap((collection) => viewOf(collection, tables))
  const slow = new Set(await read((connection) => slowViews(connection, views, viewTime)))
  return inspectCollections(collections, {
    async rows(collection, add) {
      const inspected = inspectedTable(collection)
      if (inspected?.table.failure !== undefined) return inspected.table.failure
      const own = collectionMistakes(tables, collection, collections)
      const mistakes = encoding === undefined ? own : [encoding, ...own]
      add(mistakes.map((message) => tableProblem(collection, message)))
      if (inspected === undefined) return undefined
      if (slow.has(collection.table)) return `${slowReason(viewTime)} (scanTimeout)`
      const checked = await read((connection) =>
        checkStatements(connection, inspected.table, collection),
      )
      if (checked.unreadable !== undefined) return checked.unreadable
      add(checked.mistakes.map((message) => tableProblem(collection, message)))
      return attempt(async () => {
        add(await unfitRows(inspected))
        for (const group of [collection.key, ...collection.uniques])
          add(await duplicates(inspected, group))
      })
    },
    async references(reference, add) {
      const [inspected, target] = [reference.from, reference.to].map(inspectedTable)
      if (inspected === undefined || target === undefined) return undefined
      return attempt(async () => {
        add(await missing(inspected, target, reference))
      })
    },
  })
}

function viewOf({ table }: PublishedCollection, tables: FoundTables): readonly ReadView[] {
  const { kind, columns, failure } = tables.find(table) ?? {}
  if (kind !== 'view' || columns === undefined || failure !== undefined) return []
  return [{ name: table, columns: columns.map(({ name }) => name) }]
}

/** Returns the reason of an error of the driver, such as that of a value that a function of SQLite rejects. */
async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || isStorageError(error)) throw error
    return readFailure(error)
  }
}

/** Returns the problem about rows with the same values of a group of fields. */
async function duplicates(
  { collection, table, fields, from, run }: InspectedTable,
  group: readonly PublishedField[],
): Promise<readonly StorageProblem[]> {
  if (group.length === 0 || !group.every((field) => fields.includes(field))) return []
  if (hasIndex(table, uniqueIndex(collection, group))) return []
  const given = group.map(({ column }) => `${quoted(column)} IS NOT NULL`).join(' AND ')
  const values = group.map((field) => textOf(columnTypeOf(field).exactly(identifier(field.column))))
  const groups = `FROM ${from} WHERE ${given} GROUP BY ${values.join(', ')} HAVING count(*) > 1`
  const [[count] = []] = await run(`SELECT sum(n - 1) FROM (SELECT count(*) AS n ${groups})`)
  if (count === null || count === undefined) return []
  const shown = group.map(({ column }) => quotedValue(column))
  const rows = await run(`SELECT ${shown.join(` || ', ' || `)}, count(*) ${groups} LIMIT 3`)
  const examples = rows.map(([value, items]) => `${String(value)}: ${String(items)} items`)
  return [duplicateProblem(collection, group, { count: Number(count), examples })]
}

/** Returns the problem about rows that refer to missing rows. */
async function missing(
  { fields, from, run, examples }: InspectedTable,
  target: InspectedTable,
  reference: Reference,
): Promise<readonly StorageProblem[]> {
  const { fields: own, to } = reference
  const exists = own.every((field) => fields.includes(field))
  if (!exists || !to.key.every((field) => target.fields.includes(field))) return []
  const isSameForm = own.every((field, index) => {
    const key = to.key[index]
    return key !== undefined && formOf(field) === formOf(key)
  })
  const expression = (field: PublishedField): string => {
    const { exactly, read } = columnTypeOf(field)
    return textOf((isSameForm ? exactly : read)(identifier(field.column)))
  }
  const keys = to.key.map((field) => (isSameForm ? quoted(field.column) : expression(field)))
  const given = own.map(({ column }) => `${quoted(column)} IS NOT NULL`)
  const present = to.key.map(({ column }) => `${quoted(column)} IS NOT NULL`)
  const absent = `(${own.map(expression).join(', ')}) NOT IN (SELECT ${keys.join(', ')} FROM ${target.from} WHERE ${present.join(' AND ')})`
  const rows = `${from} WHERE ${[...given, absent].join(' AND ')}`
  const [[count = 0] = []] = await run(`SELECT count(*) FROM ${rows}`)
  if (count === 0) return []
  const columns = own.map(({ column }) => column)
  const found = { count: Number(count), examples: await examples(rows, columns) }
  return [referenceProblem(reference, found)]
}

// Two columns hold equal values in the same form if their conditions are the same.
function formOf({ type, definition }: PublishedField): string {
  return `${type} ${fitCondition('', definition)}`
}

function textOf({ texts }: Sql): string {
  return texts.join('')
}
