import type { BoundStatement } from '../pool/connection.ts'
import type { Slot, Sql } from '../sql/fragments.ts'
import { limitSlot, offsetSlot } from '../sql/statements.ts'

// Statements of one shape have the same object.
const joinedTexts = new WeakMap<Sql, Sql>()

/**
 * Returns one statement for reads of the same text. Their values are the rows of a list, one array for each parameter, and
 * the text is evaluated for each row: no read sees the values of another one.
 */
export function joinedReads(statements: readonly BoundStatement[]): BoundStatement {
  const [{ sql }] = statements as readonly [BoundStatement]
  let text = joinedTexts.get(sql)
  if (text === undefined) {
    text = joinedText(sql)
    joinedTexts.set(sql, text)
  }
  return { sql: text, values: sql.slots.map((_, at) => arrayOf(statements, at)) }
}

function joinedText({ texts, slots }: Sql): Sql {
  const names = slots.map((_, at) => `v${at}`)
  const inner = texts.reduce((before, part, at) => {
    const slot = slots[at - 1] as Slot
    // A parameter is a number where LIMIT needs one, and a column must be converted.
    const type = slot === limitSlot || slot === offsetSlot ? '::bigint' : ''
    return `${before}each.v${at - 1}${type}${part}`
  })
  return {
    texts: [
      'select each.n - 1, read.* from unnest(',
      ...slots.slice(1).map(() => '::text[], '),
      `::text[]) with ordinality as each (${[...names, 'n'].join(', ')}) cross join lateral (${inner}) as read`,
    ],
    slots,
  }
}

function arrayOf(statements: readonly BoundStatement[], at: number): string {
  let array = ''
  for (const { values } of statements) {
    const value = values[at] ?? null
    const item = value === null ? 'null' : `"${String(value).replace(/["\\]/g, '\\$&')}"`
    array += array === '' ? item : `,${item}`
  }
  return `{${array}}`
}
