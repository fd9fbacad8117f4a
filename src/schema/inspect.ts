import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { isStorageError } from '../storage/adapter.ts'
import { inspectCollections, reasonOf } from '../storage/inspection/inspect-collections.ts'
import {
  duplicateProblem,
  referenceProblem,
  tableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../storage/problem.ts'
import type { Connection } from '../storage/pool/connection.ts'
import type { Tables } from '../storage/sql/dialect.ts'
import { join, raw, sql } from '../storage/sql/fragments.ts'
import { inspectedTable, literalOf, type InspectedTable } from './inspected-table.ts'
import { hasIndex } from './compare.ts'
import { collectionMistakes } from './mistakes.ts'
import { placedColumn, placeOf } from '../storage/sql/table-conditions.ts'
import { unfitRows } from './unfit-rows.ts'
import { uniqueIndex } from './wanted-indexes.ts'

/** Runs work on a connection of its own. Rejects if there is none. */
type OnConnection = <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>

/** Looks for what {@link StorageProblem} lists, with statements of the database. Reads only. */
export function inspectServerTables(
  onConnection: OnConnection,
  tables: Tables,
  collections: readonly PublishedCollection[],
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { inspection } = tables.dialect
  // A statement that takes too long may cost its connection.
  const attempt = (work: (connection: Connection) => Promise<void>): Promise<string | undefined> =>
    onConnection(async (connection) => {
      try {
        await work(connection)
        return undefined
      } catch (error) {
        if (!isOfDatabase(tables, error)) throw error
        return reasonOf(error)
      }
    })
  return inspectCollections(collections, {
    async rows(collection, add) {
      add(
        collectionMistakes(tables, collection, collections).map((message) =>
          tableProblem(collection, message),
        ),
      )
      if (tables.find(collection.table) === undefined || inspection === undefined) return undefined
      return attempt(async (connection) => {
        const table = inspectedTable(connection, tables, collection)
        add(await unfitRows(table, inspection, progress))
        for (const group of [collection.key, ...collection.uniques])
          add(await duplicates(table, group))
      })
    },
    async references(reference, add) {
      const { from, to } = reference
      const areFound = [from, to].every(({ table }) => tables.find(table) !== undefined)
      if (!areFound || inspection === undefined) return undefined
      return attempt(async (connection) => {
        const [table, target] = [from, to].map((each) => inspectedTable(connection, tables, each))
        if (table !== undefined && target !== undefined)
          add(await missing(table, target, reference))
      })
    },
  })
}

// Such as the lack of a right, a division by zero in a view, or a statement that takes too long.
function isOfDatabase({ dialect: { errors } }: Tables, error: unknown): boolean {
  const isCode = error instanceof Error && 'code' in error
  return isCode || isStorageError(error) || errors.kindOf(error) !== undefined
}

/** Returns the problem about rows with the same values of a group of fields. */
async function duplicates(
  { tables, collection, place, fields, rows }: InspectedTable,
  group: readonly PublishedField[],
): Promise<readonly StorageProblem[]> {
  if (group.length === 0 || !group.every((field) => fields.includes(field))) return []
  if (hasIndex(place.found, uniqueIndex(collection, group))) return []
  const { terms } = tables.dialect
  const given = group.map((field) => sql`${place.stored(field)} is not null`)
  const values = join(group.map((field) => terms.ordered(placedColumn(place, field))))
  const groups = sql`from ${place.table} where ${join(given, raw(' and '))} group by ${values} having count(*) > 1`
  const [[count = null] = []] = await rows(
    sql`select sum(n - 1) from (select count(*) as n ${groups}) as g`,
  )
  if (count === null) return []
  const found = await rows(sql`select count(*), ${values} ${groups} order by ${values} limit 3`)
  const examples = found.map(([items, ...texts]) => {
    const shown = group.map((field, index) => literalOf(field, texts[index] ?? null))
    return `${shown.join(', ')}: ${String(items)} items`
  })
  return [duplicateProblem(collection, group, { count: Number(count), examples })]
}

/** Returns the problem about rows that refer to missing rows. */
async function missing(
  { tables, place, fields, rows, examples }: InspectedTable,
  target: InspectedTable,
  reference: Reference,
): Promise<readonly StorageProblem[]> {
  const { fields: own, to } = reference
  const exists = own.every((field) => fields.includes(field))
  if (!exists || !to.key.every((field) => target.fields.includes(field))) return []
  const other = placeOf(tables, to, 'u')
  const given = own.map((field) => sql`${place.stored(field)} is not null`)
  const same = own.map((field, index) =>
    place.equals(field, other, to.key[index] as PublishedField),
  )
  const absent = sql`not exists (select 1 from ${other.table} where ${join(same, raw(' and '))})`
  const condition = join([...given, absent], raw(' and '))
  const [[count] = []] = await rows(sql`select count(*) from ${place.table} where ${condition}`)
  if (Number(count ?? 0) === 0) return []
  const found = { count: Number(count), examples: await examples(condition, own) }
  return [referenceProblem(reference, found)]
}
