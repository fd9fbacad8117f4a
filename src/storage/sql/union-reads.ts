import type { BoundStatement } from '../pool/connection.ts'
import { join, raw, type Sql } from './fragments.ts'

// Statements of one shape have the same object, and each number of them has a text of its own.
const unions = new WeakMap<Sql, Sql[]>()

/**
 * Returns the union of reads of the same text. `partOf` returns a read whose rows begin with a number. Each read is planned
 * for its own values if it is so alone.
 */
export function unionOf(
  statements: readonly BoundStatement[],
  partOf: (read: Sql, number: number) => Sql,
): BoundStatement {
  const [{ sql: read }] = statements as readonly [BoundStatement]
  const { length } = statements
  const known = unions.get(read) ?? []
  unions.set(read, known)
  known[length] ??= {
    ...join(
      statements.map((_, number) => partOf(read, number)),
      raw(' union all '),
    ),
    isPlannedByValues: read.isPlannedByValues === true,
  }
  return { sql: known[length], values: statements.flatMap(({ values }) => values) }
}
