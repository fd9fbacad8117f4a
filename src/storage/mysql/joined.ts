import { bind, type BoundStatement } from '../pool/connection.ts'
import type { JoinedUpdates, UpdateClauses } from '../sql/dialect.ts'
import { join, offsetSlot, ofPart, raw, sql, type Sql } from '../sql/fragments.ts'
import { textOfMany, unionOf, type ManyTexts } from '../sql/union-reads.ts'

/** Returns one statement for reads of the same text. Each of its rows begins with the index of its read. */
export function joinedReads(statements: readonly BoundStatement[]): BoundStatement {
  return unionOf(statements, marked)
}

/** Returns a query whose rows begin with a number. */
function marked({ texts: [first = '', ...others], slots }: Sql, mark: number): Sql {
  const query = { texts: [first.replace(/^select /, `select ${mark}, `), ...others], slots }
  // Without a limit, the order of a part of a union is ignored.
  const end = others.at(-1) ?? first
  const isLimited = (slots.at(-1) === offsetSlot && end === '') || end.endsWith(' limit 1')
  return isLimited ? sql`(${query})` : sql`(${query} limit ${raw(noLimit)})`
}

const noLimit = '18446744073709551615'

const updates: ManyTexts = new WeakMap()

/** Returns one statement for updates of different rows, which are found by their primary key. */
export function joinedUpdates({ statements, inputs, clauses }: JoinedUpdates): BoundStatement {
  const [{ sql: update }] = statements as readonly [BoundStatement]
  const text = textOfMany(updates, update, inputs.length, () =>
    joinedUpdate(clauses(), inputs.length),
  )
  return bind(text, { conditions: [], parts: inputs })
}

function joinedUpdate({ table, changes, terms, key }: UpdateClauses, count: number): Sql {
  const all = Array.from({ length: count }, (_, at) => at)
  const and = raw(' and ')
  // The server sets the columns one after another, and a term then sees the new values of those before. The key has none.
  const values = changes.map(({ column, value }) => {
    const ways = all.map((at) => ofPart(sql`when ${join(key, and)} then ${value}`, at))
    return sql`${column} = case ${join(ways, raw(' '))} end`
  })
  const rows = all.map((at) => ofPart(sql`(${join(terms, and)})`, at))
  // If the server read a small table instead of the index, it would lock all of its rows.
  return sql`update ${table} force index (primary) set ${join(values)} where ${join(rows, raw(' or '))}`
}
