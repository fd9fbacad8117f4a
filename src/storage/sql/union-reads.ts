import type { BoundStatement } from '../pool/connection.ts'
import { join, raw, type Sql } from './fragments.ts'

/** The texts of several statements that are one, by that of one of them and their number. Those of one shape have the same object. */
export type ManyTexts = WeakMap<Sql, Sql[]>

/** Returns the text of so many statements, each of which has the same text alone. */
export function textOfMany(texts: ManyTexts, single: Sql, count: number, create: () => Sql): Sql {
  const known = texts.get(single) ?? []
  texts.set(single, known)
  return (known[count] ??= create())
}

const unions: ManyTexts = new WeakMap()

/**
 * Returns the union of reads of the same text. `partOf` returns a read whose rows begin with a number. Each read is planned
 * for its own values if it is so alone.
 */
export function unionOf(
  statements: readonly BoundStatement[],
  partOf: (read: Sql, number: number) => Sql,
): BoundStatement {
  const [{ sql: read }] = statements as readonly [BoundStatement]
  const text = textOfMany(unions, read, statements.length, () => ({
    ...join(
      statements.map((_, number) => partOf(read, number)),
      raw(' union all '),
    ),
    isPlannedByValues: read.isPlannedByValues === true,
  }))
  return { sql: text, values: statements.flatMap(({ values }) => values) }
}
