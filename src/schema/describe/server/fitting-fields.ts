import type { Field } from '../../../definition/field.ts'
import { fieldTypes } from '../../../definition/field-type.ts'
import type { CatalogueColumn, CatalogueTable } from '../../catalogue-tables.ts'
import { bind, type Connection, type TextRow } from '../../../storage/pool/connection.ts'
import type { Inspection } from '../../../storage/sql/dialect.ts'
import { join, raw, sql, type Sql } from '../../../storage/sql/fragments.ts'
import { largeRows } from '../description.ts'
import type { Candidates } from './candidates.ts'

/** How the values of a kind of server are compared with fields. */
export interface ValueCatalogue {
  /**
   * Returns the condition that a value of a column, other than null, is one of its field. Undefined: the type of the
   * column allows no other values.
   */
  fitTerm(value: Sql, column: CatalogueColumn, field: Field): Sql | undefined
  /** Returns how a check finds values that only their text shows not to be ones of their field. */
  inspection(): Pick<Inspection, 'doubtful' | 'parts'>
  /** Returns the text of a value, which is compared exactly. */
  textOf(value: Sql): Sql
  /** Returns a name in quotes. */
  quoted(name: string): string
}

/** A table whose values are read. */
export interface ReadTable {
  readonly table: CatalogueTable
  /** The fields that each column may be. */
  readonly candidates: readonly Candidates[]
  /** Called before all rows are read, if they are many. */
  readonly reading: () => void
}

/** A field that a column may be. */
interface Tried {
  readonly column: CatalogueColumn
  readonly value: Sql
  readonly field: Field
}

/** Reads rows of a table. */
interface TableRows {
  readonly table: CatalogueTable
  readonly from: Sql
  read(statement: Sql): Promise<readonly TextRow[]>
}

// Statements of wide tables would have too many columns.
const termsAtOnce = 200

/** Returns those fields of each column that every value of the column fits. */
export async function fittingFields(
  connection: Connection,
  catalogue: ValueCatalogue,
  { table, candidates, reading }: ReadTable,
): Promise<readonly (readonly Field[])[]> {
  const rows: TableRows = {
    table,
    from: raw([table.schema, table.name].map(catalogue.quoted).join('.')),
    read: (statement) => connection.rows(bind(statement)),
  }
  const tried = candidates.map(({ fields }, index) => {
    const column = table.columns[index] as CatalogueColumn
    return fields.map<Tried>((field) => ({
      ...{ column, field },
      value: raw(catalogue.quoted(column.name)),
    }))
  })
  const terms = tried.flat().flatMap((one) => {
    const term = catalogue.fitTerm(one.value, one.column, one.field)
    return term === undefined ? [] : [{ one, term }]
  })
  const { doubtful, parts } = catalogue.inspection()
  const doubts = tried.flat().flatMap((one) => {
    const text = catalogue.textOf(one.value)
    const doubt = doubtful(text, one.field)
    return doubt === undefined ? [] : [{ one, text, doubt }]
  })
  if (terms.length + doubts.length > 0) {
    const some = sql`select 1 from ${rows.from} limit ${raw(String(largeRows))}`
    const [[count] = []] = await rows.read(sql`select count(*) from (${some}) as some_rows`)
    if (Number(count) >= largeRows) reading()
  }
  const unfit = new Set(await misfits(rows, terms))
  const left = doubts.filter(({ one }) => !unfit.has(one))
  if (left.length > 0) {
    const column = (name: string): Sql => raw(catalogue.quoted(name))
    const [[count] = []] = await rows.read(sql`select count(*) from ${rows.from}`)
    const found = { table, from: rows.from, rows: Number(count), column }
    const slices = await parts(connection, found)
    for (const doubt of left) if (await isFound(rows, doubt, slices)) unfit.add(doubt.one)
  }
  return tried.map((own) => own.filter((one) => !unfit.has(one)).map(({ field }) => field))
}

/** Reads the first row of a table. Rejects if the server does not compute the values of a view for the user. */
export async function readFirstRow(
  connection: Connection,
  { quoted }: Pick<ValueCatalogue, 'quoted'>,
  { schema, name, columns }: CatalogueTable,
): Promise<void> {
  const readable = columns.filter(({ isReadable }) => isReadable)
  const values = join(readable.map((column) => raw(quoted(column.name))))
  const from = raw([schema, name].map(quoted).join('.'))
  if (readable.length > 0) await connection.rows(bind(sql`select ${values} from ${from} limit 1`))
}

/** Returns the fields that a condition shows not to fit a value. */
async function misfits(
  { from, read }: TableRows,
  terms: readonly { readonly one: Tried; readonly term: Sql }[],
): Promise<readonly Tried[]> {
  const unfit: Tried[] = []
  for (let at = 0; at < terms.length; at += termsAtOnce) {
    const group = terms.slice(at, at + termsAtOnce)
    const sums = group.map(
      ({ one: { value }, term }) =>
        sql`max(case when ${value} is null or (${term}) then 0 else 1 end)`,
    )
    const [row = []] = await read(sql`select ${join(sums)} from ${from}`)
    unfit.push(...group.flatMap(({ one }, index) => (row[index] === '1' ? [one] : [])))
  }
  return unfit
}

// Texts are read in batches of about so many bytes, because all of a table may be doubtful.
const batchBytes = 8 * 1_024 * 1_024

/** Returns whether the text of a value shows that a field does not fit it. */
async function isFound(
  { from, read }: TableRows,
  { one: { field, value }, text, doubt }: { one: Tried; text: Sql; doubt: Sql },
  slices: readonly Sql[],
): Promise<boolean> {
  const { isStored } = fieldTypes[field.type]
  for (const slice of slices.length === 0 ? [sql`1 = 1`] : slices) {
    const doubtful = sql`from ${from} where ${slice} and ${value} is not null and (${doubt})`
    const [[bytes = null] = []] = await read(sql`select sum(octet_length(${text})) ${doubtful}`)
    for (const batch of batchesOf(text, Number(bytes))) {
      const found = await read(sql`select ${text} ${doubtful} and ${batch}`)
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
