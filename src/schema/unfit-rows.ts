import type { PublishedField } from '../definition/published-field.ts'
import {
  missingProblem,
  unfitProblem,
  unreachableProblem,
  type InspectionProgress,
  type StorageProblem,
} from '../storage/problem.ts'
import { join, raw, sql } from '../storage/sql/fragments.ts'
import {
  examplesOf,
  type CheckedRows,
  type InspectedTable,
  type WrongRows,
} from './inspected-table.ts'

interface Check extends CheckedRows {
  /** The fields that examples show besides the key. */
  readonly shown: readonly PublishedField[]
  problem(found: WrongRows & { readonly total: number }): StorageProblem | Promise<StorageProblem>
}

// A statement of PostgreSQL returns 1,664 columns at most, and one of SQLite 2,000.
const termsAtOnce = 1_000

/** Returns the problems about stored values that do not fit their fields, that are missing, or that no path can have. */
export async function unfitRows(
  table: InspectedTable,
  progress: InspectionProgress,
): Promise<readonly StorageProblem[]> {
  const checks = checksOf(table)
  if (checks.length === 0 && !table.isAlwaysRead) return []
  const { total, counts, doubts } = await countRows(table, checks, progress)
  const problems: StorageProblem[] = []
  for (const [index, { misfits, shown, problem }] of checks.entries()) {
    const count = counts[index] ?? 0
    if (count === 0) continue
    const first = misfits === undefined ? [] : await examplesOf(table, misfits, shown)
    const examples = [...first, ...(doubts[index] ?? [])].slice(0, 3)
    problems.push(await problem({ count, examples, total }))
  }
  return problems
}

function checksOf(table: InspectedTable): readonly Check[] {
  const { collection, fields, found, stored } = table
  const values = fields.flatMap((field): readonly Check[] => {
    const checked = { misfits: table.misfits(field), doubts: table.doubts?.(field) }
    if (checked.misfits === undefined && checked.doubts === undefined) return []
    return [
      {
        ...checked,
        shown: [field],
        problem: async (rows) =>
          unfitProblem(collection, field, { ...rows, advice: await table.advice(field) }),
      },
    ]
  })
  const absent = fields
    .filter(({ required, inKey }) => required && !inKey)
    .filter(({ column }) => found.find(column)?.notNull !== true)
    .map((field): Check => ({
      misfits: sql`${stored(field)} is null`,
      shown: [field],
      problem: (rows) => missingProblem(collection, field, rows),
    }))
  const isPresent = collection.key.every((field) => fields.includes(field))
  const key = isPresent && collection.maxKeyLength !== Infinity ? table.unreachable() : undefined
  const keys = key && {
    ...key,
    shown: [],
    problem: (rows: Parameters<Check['problem']>[0]) => unreachableProblem(collection, rows),
  }
  return [...values, ...absent, ...(keys === undefined ? [] : [keys])]
}

/** Counts the rows of a table part by part, and those with which something is wrong. */
async function countRows(
  { collection, from, rows, computed, parts }: InspectedTable,
  checks: readonly Check[],
  progress: InspectionProgress,
) {
  const [[all] = []] = await rows(sql`select count(*) from ${from}`)
  const counts = checks.map(() => 0)
  const doubts = checks.map((): string[] => [])
  let total = 0
  const sums = checks.map(({ misfits }) =>
    misfits === undefined ? raw('0') : sql`sum(case when ${misfits} then 1 else 0 end)`,
  )
  const terms = [raw('count(*)'), ...sums, ...computed]
  for await (const part of parts(Number(all ?? 0))) {
    const found: number[] = []
    for (let at = 0; at < terms.length; at += termsAtOnce) {
      const group = join(terms.slice(at, at + termsAtOnce))
      const [row = []] = await rows(sql`select ${group} from ${from} where ${part}`)
      found.push(...row.map((count) => Number(count ?? 0)))
    }
    for (const [index, count] of counts.entries()) counts[index] = count + (found[index + 1] ?? 0)
    for (const [index, each] of checks.entries()) {
      if (each.doubts === undefined) continue
      const wrong = await each.doubts(part)
      counts[index] = (counts[index] ?? 0) + wrong.count
      doubts[index]?.push(...wrong.examples)
    }
    total += found[0] ?? 0
    progress(collection, total, Math.max(total, Number(all ?? 0)))
  }
  return { total, counts, doubts }
}
