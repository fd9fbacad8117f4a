import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { inspectCollections, type AddProblems } from '../storage/inspection/inspect-collections.ts'
import {
  duplicateProblem,
  referenceProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../storage/problem.ts'
import { join, raw, sql, type Sql } from '../storage/sql/fragments.ts'
import { hasIndex } from './compare.ts'
import { examplesOf, type InspectedTable } from './inspected-table.ts'
import { unfitRows } from './unfit-rows.ts'
import { uniqueIndex } from './wanted-indexes.ts'

/** How a database opens the tables that are inspected. */
export interface Inspector {
  /** Adds what is wrong with the table of a collection. Returns why its rows can't be read, if they can't. */
  prepare(collection: PublishedCollection, add: AddProblems): Promise<string | undefined>
  /** Runs work with the tables of collections, unless one is missing. Returns why the database rejects it. */
  attempt(
    collections: readonly PublishedCollection[],
    work: (tables: readonly InspectedTable[]) => Promise<void>,
  ): Promise<string | undefined>
}

/** Looks for what {@link StorageProblem} lists, with statements of the database. Reads only. */
export function inspectTables(
  collections: readonly PublishedCollection[],
  { prepare, attempt }: Inspector,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  return inspectCollections(collections, {
    async rows(collection, add) {
      const reason = await prepare(collection, add)
      if (reason !== undefined) return reason
      return attempt([collection], async ([table]) => {
        if (table === undefined) return
        add(await unfitRows(table, progress))
        for (const group of [collection.key, ...collection.uniques])
          add(await duplicates(table, group))
      })
    },
    references: (reference, add) =>
      attempt([reference.from, reference.to], async ([table, target]) => {
        if (table !== undefined && target !== undefined)
          add(await missing(table, target, reference))
      }),
  })
}

/** Returns the problem about rows with the same values of a group of fields. */
async function duplicates(
  table: InspectedTable,
  group: readonly PublishedField[],
): Promise<readonly StorageProblem[]> {
  const { collection, found, fields, from, rows, grouped, repeated, literal } = table
  if (group.length === 0 || !group.every((field) => fields.includes(field))) return []
  if (hasIndex(found, uniqueIndex(collection, group))) return []
  const values = join(group.map(grouped))
  const groups = sql`from ${from} where ${present(table, group)} group by ${values} having count(*) > 1`
  const [[count = null] = []] = await rows(
    sql`select sum(n - 1) from (select count(*) as n ${groups}) as g`,
  )
  if (count === null) return []
  const shown = join(group.map(repeated))
  const first = await rows(sql`select count(*), ${shown} ${groups} order by ${values} limit 3`)
  const examples = first.map(([items, ...each]) => {
    const literals = group.map((field, index) => literal(field, each[index] ?? null))
    return `${literals.join(', ')}: ${String(items)} items`
  })
  return [duplicateProblem(collection, group, { count: Number(count), examples })]
}

/** Returns the problem about rows that refer to missing rows. */
async function missing(
  table: InspectedTable,
  target: InspectedTable,
  reference: Reference,
): Promise<readonly StorageProblem[]> {
  const { fields: own, to } = reference
  const exists = own.every((field) => table.fields.includes(field))
  if (!exists || !to.key.every((field) => target.fields.includes(field))) return []
  const condition = sql`${present(table, own)} and ${table.absent(reference, target)}`
  const [[count] = []] = await table.rows(
    sql`select count(*) from ${table.from} where ${condition}`,
  )
  if (Number(count ?? 0) === 0) return []
  const examples = await examplesOf(table, condition, own)
  return [referenceProblem(reference, { count: Number(count), examples })]
}

function present({ stored }: InspectedTable, fields: readonly PublishedField[]): Sql {
  return join(
    fields.map((field) => sql`${stored(field)} is not null`),
    raw(' and '),
  )
}
