import type { PublishedField } from '../definition/published-field.ts'
import { hasPath } from '../request/item-path.ts'
import {
  correctThem,
  missingProblem,
  unfitProblem,
  unreachableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../storage/problem.ts'
import type { Inspection } from '../storage/sql/dialect.ts'
import { join, raw, sql, type Sql } from '../storage/sql/fragments.ts'
import { alias, literalOf, type InspectedTable } from './inspected-table.ts'
import { columnOf, name, placedColumn, typeOf } from '../storage/sql/table-conditions.ts'

/** Something that may be wrong with the rows of a table. */
interface Checked {
  /** The term that it is wrong with a row. Undefined: only `doubts` find out. */
  readonly misfits: Sql | undefined
  /** Returns those of the rows that meet a condition with which it is wrong, as only the text of their values shows. */
  readonly doubts?: ((part: Sql) => Promise<Wrong>) | undefined
  /** The fields that examples show besides the key. */
  readonly shown: readonly PublishedField[]
  problem(found: FoundRows): StorageProblem
}

type FoundRows = Wrong & { readonly total: number }

/** The number of rows with which something is wrong, and the first three. */
interface Wrong {
  readonly count: number
  readonly examples: readonly string[]
}

// A statement of PostgreSQL returns 1,664 columns at most.
const termsAtOnce = 1_000

/** Returns the problems about stored values that do not fit their fields, that are missing, or that no path can have. */
export async function unfitRows(
  table: InspectedTable,
  inspection: Inspection,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const { collection, place, connection, rows, fields } = table
  const checked = [
    ...fields.map((field) => checkedField(table, inspection, field)),
    ...fields.flatMap((field) => checkedPresence(table, field)),
    ...checkedKey(table),
  ]
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
  const sums = checked.map(({ misfits }) =>
    misfits === undefined ? raw('0') : sql`sum(case when ${misfits} then 1 else 0 end)`,
  )
  // A view computes only what a statement reads.
  const values = fields.map((field) => sql`count(${place.column(field)})`)
  const terms = [raw('count(*)'), ...sums, ...(place.found.kind === 'table' ? [] : values)]
  for (const part of parts.length === 0 ? [sql`1 = 1`] : parts) {
    const found: number[] = []
    for (let at = 0; at < terms.length; at += termsAtOnce) {
      const group = join(terms.slice(at, at + termsAtOnce))
      const [row = []] = await rows(sql`select ${group} from ${place.table} where ${part}`)
      found.push(...row.map((count) => Number(count ?? 0)))
    }
    for (const [index, count] of counts.entries()) counts[index] = count + (found[index + 1] ?? 0)
    for (const [index, each] of checked.entries()) {
      if (each.doubts === undefined) continue
      const wrong = await each.doubts(part)
      counts[index] = (counts[index] ?? 0) + wrong.count
      doubts[index]?.push(...wrong.examples)
    }
    done += found[0] ?? 0
    progress(collection, done, Math.max(done, Number(total ?? 0)))
  }
  const problems: StorageProblem[] = []
  for (const [index, { misfits, shown, problem }] of checked.entries()) {
    const count = counts[index] ?? 0
    if (count === 0) continue
    const first = misfits === undefined ? [] : await table.examples(misfits, shown)
    const examples = [...first, ...(doubts[index] ?? [])].slice(0, 3)
    problems.push(problem({ count, examples, total: done }))
  }
  return problems
}

function checkedField(
  table: InspectedTable,
  { misfits, doubtful }: Inspection,
  field: PublishedField,
): Checked {
  const { place, collection } = table
  const { sql: value, stored } = placedColumn(place, field)
  const column = columnOf(place.found, field)
  const unfit = misfits(value, column, field.definition)
  const present = unfit && sql`(${stored} is not null and ${unfit})`
  const absent = field.inKey && !column.notNull ? sql`${stored} is null` : undefined
  const doubt = doubtful(typeOf(place, field).wire(value), field.definition)
  return {
    misfits: present && absent ? sql`(${present} or ${absent})` : (present ?? absent),
    doubts: doubt && ((part) => doubtfulRows(table, { field, value }, sql`${part} and ${doubt}`)),
    shown: [field],
    problem: (found) => unfitProblem(collection, field, { ...found, advice: correctThem }),
  }
}

function checkedPresence(
  { place, collection }: InspectedTable,
  field: PublishedField,
): readonly Checked[] {
  const { required, inKey } = field
  if (!required || inKey || columnOf(place.found, field).notNull) return []
  return [
    {
      misfits: sql`${place.stored(field)} is null`,
      shown: [field],
      problem: (found) => missingProblem(collection, field, found),
    },
  ]
}

/** Returns the check of keys that no path can have. Their length in a path is known of their text only. */
function checkedKey({ place, collection, fields, rows }: InspectedTable): readonly Checked[] {
  const { key, maxKeyLength } = collection
  const texts = key
    .filter(({ type }) => type === 'text')
    .map((field) => placedColumn(place, field).sql)
  const isPresent = key.every((field) => fields.includes(field))
  if (maxKeyLength === Infinity || texts.length === 0 || !isPresent) return []
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
  return [
    {
      misfits: undefined,
      shown: [],
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
      problem: (found) => unreachableProblem(collection, found),
    },
  ]
}

// The longest value of another type than text, with the comma that follows it.
const maxShortPart = 51

/** Returns the number of values whose text does not fit, and the first three. */
async function doubtfulRows(
  { place, collection, rows }: InspectedTable,
  { field, value }: { readonly field: PublishedField; readonly value: Sql },
  condition: Sql,
): Promise<Wrong> {
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
