import type { Field } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import { join, raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { Candidates } from './candidates.ts'
import type { ReadValues } from './described-database.ts'

/** A table whose values are read. */
export interface ReadTable {
  readonly table: CatalogueTable
  /** The fields that each column may be. */
  readonly candidates: readonly Pick<Candidates, 'fields'>[]
  /** Called before all rows are read. */
  readonly announce: () => Promise<void>
}

/** A field that a column may be. */
interface Tried {
  readonly column: CatalogueColumn
  readonly value: Sql
  readonly field: Field
}

/** Returns those fields of each column that every value of the column fits. */
export async function fittingFields(
  database: ReadValues,
  { table, candidates, announce }: ReadTable,
): Promise<readonly (readonly Field[])[]> {
  const tried = candidates.map(({ fields }, index) => {
    const column = table.columns[index] as CatalogueColumn
    return fields.map<Tried>((field) => ({
      column,
      field,
      value: raw(database.quoted(column.name)),
    }))
  })
  const terms = tried.flat().flatMap((one) => {
    const term = database.fitTerm(one.value, one.column, one.field)
    return term === undefined ? [] : [{ one, term }]
  })
  const doubts = tried.flat().flatMap((one) => {
    const text = database.textOf(one.value)
    const doubt = database.doubtful(text, one.field)
    return doubt === undefined ? [] : [{ one, text, doubt }]
  })
  if (terms.length + doubts.length > 0) await announce()
  const unfit = new Set(await misfits(database, table, terms))
  const left = doubts.filter(({ one }) => !unfit.has(one))
  if (left.length > 0) {
    const parts = await partsOf(database, table)
    for (const doubt of left) if (await isFound(database, table, doubt, parts)) unfit.add(doubt.one)
  }
  return tried.map((own) => own.filter((one) => !unfit.has(one)).map(({ field }) => field))
}

async function partsOf(database: ReadValues, table: CatalogueTable): Promise<readonly Sql[]> {
  const from = database.place(table)
  const [[count] = []] = await database.rows(sql`select count(*) from ${from}`)
  const column = (name: string): Sql => raw(database.quoted(name))
  const parts = await database.parts({ table, from, rows: Number(count), column })
  return parts.length === 0 ? [sql`1 = 1`] : parts
}

/** Returns the fields that a condition shows not to fit a value. */
async function misfits(
  database: ReadValues,
  table: CatalogueTable,
  terms: readonly { readonly one: Tried; readonly term: Sql }[],
): Promise<readonly Tried[]> {
  const unfit: Tried[] = []
  const { termsAtOnce } = database
  for (let at = 0; at < terms.length; at += termsAtOnce) {
    const group = terms.slice(at, at + termsAtOnce)
    const sums = group.map(
      ({ one: { value }, term }) =>
        sql`max(case when ${value} is null or (${term}) then 0 else 1 end)`,
    )
    const [row = []] = await database.rows(sql`select ${join(sums)} from ${database.place(table)}`)
    unfit.push(...group.flatMap(({ one }, index) => (row[index] === '1' ? [one] : [])))
  }
  return unfit
}

// Texts are read in batches of about so many bytes, because all of a table may be doubtful.
const batchBytes = 8 * 1_024 * 1_024

/** Returns whether the text of a value shows that a field does not fit it. */
async function isFound(
  database: ReadValues,
  table: CatalogueTable,
  { one: { field, value }, text, doubt }: { one: Tried; text: Sql; doubt: Sql },
  parts: readonly Sql[],
): Promise<boolean> {
  const { isStored } = fieldTypes[field.type]
  for (const part of parts) {
    const doubtful = sql`from ${database.place(table)} where ${part} and ${value} is not null and (${doubt})`
    const sum = sql`select sum(octet_length(${text})) ${doubtful}`
    const [[bytes = null] = []] = await database.rows(sum)
    for (const batch of batchesOf(text, Number(bytes))) {
      const found = await database.rows(sql`select ${text} ${doubtful} and ${batch}`)
      if (found.some(([stored]) => !isStored(stored, field))) return true
    }
  }
  return false
}

/** Returns the conditions of the batches of texts, each a range of the first digits of their digests. */
function batchesOf(text: Sql, bytes: number): readonly Sql[] {
  const count = Math.min(Math.ceil(bytes / batchBytes), digests)
  if (count <= 1) return count === 0 ? [] : [sql`1 = 1`]
  const bound = (batch: number): Sql => {
    const first = Math.ceil((batch * digests) / count)
    return raw(`'${first.toString(16).padStart(4, '0')}'`)
  }
  const digest = sql`left(md5(${text}), 4)`
  return Array.from({ length: count }, (_, batch) => {
    const above = sql`${digest} >= ${bound(batch)}`
    return batch === count - 1 ? above : sql`${above} and ${digest} < ${bound(batch + 1)}`
  })
}

const digests = 0x1_0000
