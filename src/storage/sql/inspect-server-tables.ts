import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import {
  duplicateProblem,
  referenceProblem,
  tableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../problem.ts'
import type { Connection } from './connection.ts'
import type { Inspection, Tables } from './dialect.ts'
import { join, raw, sql } from './fragments.ts'
import { inspectedTable, literalOf, type InspectedTable } from './inspected-table.ts'
import { hasIndex } from './schema.ts'
import { collectionMistakes } from './table-check.ts'
import { placedColumn, placeOf } from './table-conditions.ts'
import { unfitRows } from './unfit-rows.ts'
import { uniqueIndex } from './wanted-indexes.ts'

/** Looks for what {@link StorageProblem} lists, with statements of the database. Reads only. */
export async function inspectServerTables(
  connection: Connection,
  tables: Tables,
  collections: readonly PublishedCollection[],
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { inspection } = tables.dialect
  const problems: StorageProblem[] = []
  const inspected = (collection: PublishedCollection): InspectedTable | undefined =>
    tables.find(collection.table) && inspectedTable(connection, tables, collection)
  for (const collection of collections) {
    for (const message of collectionMistakes(tables, collection, collections)) {
      problems.push(tableProblem(collection, message))
    }
    const table = inspected(collection)
    if (table === undefined || inspection === undefined) continue
    const targets = collection.references.flatMap((reference) => {
      const target = collections.includes(reference.to) ? inspected(reference.to) : undefined
      return target === undefined ? [] : [{ reference, target }]
    })
    try {
      problems.push(...(await rowProblems({ table, targets }, inspection, progress)))
    } catch (error) {
      if (!isOfTable(tables, error)) throw error
      problems.push(tableProblem(collection, `its rows can't be read: ${error.message}`))
    }
  }
  return problems
}

// Such as the lack of a right, or a division by zero in a view. The other tables can be read.
function isOfTable({ dialect: { errors } }: Tables, error: unknown): error is Error {
  const kind = errors.kindOf(error)
  const isCode = error instanceof Error && 'code' in error
  return isCode && kind !== 'unavailable' && kind !== 'conflict'
}

async function rowProblems(
  { table, targets }: ReferringTable,
  inspection: Inspection,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { collection } = table
  const problems = [...(await unfitRows(table, inspection, progress))]
  for (const group of [collection.key, ...collection.uniques]) {
    problems.push(...(await duplicates(table, group)))
  }
  for (const { reference, target } of targets) {
    problems.push(...(await missing(table, target, reference)))
  }
  return problems
}

interface ReferringTable {
  readonly table: InspectedTable
  readonly targets: readonly { readonly reference: Reference; readonly target: InspectedTable }[]
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
