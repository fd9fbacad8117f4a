import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { join, sql, type Sql } from '../storage/sql/fragments.ts'
import type { Table } from './model.ts'

/** Something that may be wrong with the rows of a table. */
export interface CheckedRows {
  /** The condition that it is wrong with a row. Undefined: only `doubts` find out. */
  readonly misfits: Sql | undefined
  /** Returns the rows among those that meet a condition with which it is wrong, which must be checked as text. */
  readonly doubts?: ((part: Sql) => Promise<WrongRows>) | undefined
}

/** The number of rows with which something is wrong, and the first three. */
export interface WrongRows {
  readonly count: number
  readonly examples: readonly string[]
}

/** The table of a collection, and how its rows are inspected. */
export interface InspectedTable {
  readonly collection: PublishedCollection
  readonly found: Table
  /** The fields whose values can be read. */
  readonly fields: readonly PublishedField[]
  /** What follows FROM. */
  readonly from: Sql
  rows(statement: Sql): Promise<readonly (readonly unknown[])[]>
  /** Returns the column of a field. */
  stored(field: PublishedField): Sql
  /** Returns what is read of a column for an example. */
  shown(field: PublishedField): Sql
  /** Returns what was read for an example as a short literal of SQL. */
  literal(field: PublishedField, value: unknown): string
  /** Returns what is the same for equal values. */
  grouped(field: PublishedField): Sql
  /** Returns what is read of equal values for an example. */
  repeated(field: PublishedField): Sql
  /** Returns the condition that no row of another table has the key of a reference. */
  absent(reference: Reference, target: InspectedTable): Sql
  /** Returns the condition that a row has no value that the field can have. Undefined: every row has one. */
  misfits(field: PublishedField): Sql | undefined
  /** Returns the rows whose value may not be one of the field, as only its text shows. */
  doubts?(field: PublishedField): CheckedRows['doubts']
  /** Returns the check of keys that no path can have, if there may be one. */
  unreachable(): Pick<CheckedRows, 'misfits' | 'doubts'> | undefined
  /** Returns what to do about values that do not fit. */
  advice(field: PublishedField): Promise<string>
  /** Whether its rows are read although nothing of them is checked, because the database may reject that. */
  readonly isAlwaysRead: boolean
  /** What is read of every row besides, so that a view computes it. */
  readonly computed: readonly Sql[]
  /** Returns the conditions of parts of the table, which are read one after another. `total`: the number of rows. */
  parts(total: number): AsyncIterable<Sql>
}

/** Returns the keys of up to three rows, each with the values of fields. */
export async function examplesOf(
  { collection, found, from, rows, shown, literal }: InspectedTable,
  condition: Sql,
  fields: readonly PublishedField[],
): Promise<readonly string[]> {
  const key = collection.key.filter(({ column }) => found.find(column) !== undefined)
  const all = [...key, ...fields]
  if (all.length === 0) return []
  const columns = join(all.map(shown))
  const first = await rows(sql`select ${columns} from ${from} where ${condition} limit 3`)
  return first.map((row) => {
    const values = all.map((field, at) => literal(field, row[at] ?? null))
    const [keys, others] = [values.slice(0, key.length), values.slice(key.length)]
    return [keys.join(', '), others.join(', ')].filter((part) => part !== '').join(': ')
  })
}
