import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import {
  correctThem,
  duplicateProblem,
  referenceProblem,
  tableProblem,
  unfitProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../problem.ts'
import { bind, type Connection, type TextRow } from './connection.ts'
import type { Inspection, Tables } from './dialect.ts'
import { join, raw, sql, type Sql } from './fragments.ts'
import { hasIndex } from './schema.ts'
import { collectionMistakes } from './table-check.ts'
import {
  columnOf,
  keptType,
  name,
  placedColumn,
  placeOf,
  typeOf,
  type TablePlace,
} from './table-conditions.ts'
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

/** The table of a collection, under the alias `t`, and how its rows are inspected. */
interface InspectedTable {
  readonly tables: Tables
  readonly collection: PublishedCollection
  readonly connection: Connection
  readonly place: TablePlace
  /** The fields whose columns keep their values. */
  readonly fields: readonly PublishedField[]
  rows(statement: Sql): Promise<readonly TextRow[]>
  /** Returns the keys of up to three rows, each with the values of fields. */
  examples(condition: Sql, fields: readonly PublishedField[]): Promise<readonly string[]>
}

const alias = 't'

function inspectedTable(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
): InspectedTable {
  const place = placeOf(tables, collection, alias)
  const fields = collection.fields.filter(({ column }) => place.found.find(column) !== undefined)
  const key = collection.key.filter((field) => fields.includes(field))
  const rows = (statement: Sql): Promise<readonly TextRow[]> => connection.rows(bind(statement))
  return {
    tables,
    collection,
    connection,
    place,
    fields: fields.filter(
      (field) => keptType(tables.dialect, columnOf(place.found, field), field) !== undefined,
    ),
    rows,
    async examples(condition, shown) {
      const columns = [...key, ...shown].map((field) => place.stored(field))
      const found = await rows(
        sql`select ${join(columns)} from ${place.table} where ${condition} limit 3`,
      )
      return found.map((row) => {
        const values = [...key, ...shown].map((field, at) => literalOf(field, row[at] ?? null))
        const [keys, others] = [values.slice(0, key.length), values.slice(key.length)]
        return [keys.join(', '), others.join(', ')].filter((part) => part !== '').join(': ')
      })
    },
  }
}

const numbers: readonly string[] = ['integer', 'bigint', 'decimal', 'double']

/** Returns the text of a value as a short literal of SQL. */
function literalOf({ type }: PublishedField, text: string | null): string {
  if (text === null) return 'NULL'
  return (numbers.includes(type) ? text : `'${text.replaceAll("'", "''")}'`).slice(0, 60)
}

/** A field with the term that a value is not one of it. */
interface CheckedField {
  readonly field: PublishedField
  readonly value: Sql
  readonly misfits: Sql | undefined
  /** The term that only the text of a value shows whether it fits. */
  readonly doubtful: Sql | undefined
}

async function unfitRows(
  table: InspectedTable,
  inspection: Inspection,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { collection, place, connection, rows, fields } = table
  const checked = fields.map((field) => checkedField(place, inspection, field))
  const [[total] = []] = await rows(sql`select count(*) from ${place.table}`)
  const parts = await inspection.parts(connection, {
    table: place.found,
    from: place.table,
    rows: Number(total ?? 0),
    column: (own) => name(place.dialect, alias, own),
  })
  const counts = checked.map(() => 0)
  const doubts = checked.map((): string[] => [])
  let done = 0
  for (const part of parts.length === 0 ? [sql`1 = 1`] : parts) {
    const sums = checked.map(({ misfits }) =>
      misfits === undefined ? raw('0') : sql`sum(case when ${misfits} then 1 else 0 end)`,
    )
    const all = join([raw('count(*)'), ...sums])
    const [[found, ...unfit] = []] = await rows(
      sql`select ${all} from ${place.table} where ${part}`,
    )
    for (const [index, count] of unfit.entries()) {
      counts[index] = (counts[index] ?? 0) + Number(count ?? 0)
    }
    for (const [index, each] of checked.entries()) {
      if (each.doubtful === undefined) continue
      const wrong = await doubtfulRows(table, each, sql`${part} and ${each.doubtful}`)
      counts[index] = (counts[index] ?? 0) + wrong.count
      doubts[index]?.push(...wrong.examples)
    }
    done += Number(found ?? 0)
    progress(collection, done, Math.max(done, Number(total ?? 0)))
  }
  const problems: StorageProblem[] = []
  for (const [index, { field, misfits }] of checked.entries()) {
    const count = counts[index] ?? 0
    if (count === 0) continue
    const shown = misfits === undefined ? [] : await table.examples(misfits, [field])
    const examples = [...shown, ...(doubts[index] ?? [])].slice(0, 3)
    problems.push(
      unfitProblem(collection, field, { count, examples, total: done, advice: correctThem }),
    )
  }
  return problems
}

function checkedField(
  place: TablePlace,
  { misfits, doubtful }: Inspection,
  field: PublishedField,
): CheckedField {
  const { sql: value, stored } = placedColumn(place, field)
  const column = columnOf(place.found, field)
  const unfit = misfits(value, column, field.definition)
  const present = unfit && sql`(${stored} is not null and ${unfit})`
  const absent = field.inKey && !column.notNull ? sql`${stored} is null` : undefined
  return {
    field,
    value,
    misfits: present && absent ? sql`(${present} or ${absent})` : (present ?? absent),
    doubtful: doubtful(typeOf(place, field).wire(value), field.definition),
  }
}

/** Returns the number of values whose text does not fit, and the first three. */
async function doubtfulRows(
  { place, collection, rows }: InspectedTable,
  { field, value }: CheckedField,
  condition: Sql,
): Promise<{ readonly count: number; readonly examples: readonly string[] }> {
  const { read } = typeOf(place, field)
  const { key } = collection
  const columns = [value, ...key.map((part) => place.stored(part))]
  const found = await rows(sql`select ${join(columns)} from ${place.table} where ${condition}`)
  const wrong = found.filter(([text = null]) => text !== null && !field.isStored(read(text)))
  const examples = wrong.slice(0, 3).map(([text = null, ...parts]) => {
    const own = key.map((part, index) => literalOf(part, parts[index] ?? null)).join(', ')
    return [own, literalOf(field, text)].filter((part) => part !== '').join(': ')
  })
  return { count: wrong.length, examples }
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
