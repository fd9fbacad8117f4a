import type { BoundStatement } from '../pool/connection.ts'
import { limitSlot, offsetSlot, raw, sql, type Slot, type Sql } from '../sql/fragments.ts'
import type { UpdateClauses } from '../sql/dialect.ts'

// Statements of one shape have the same object.
const joinedTexts = new WeakMap<Sql, Sql>()

/**
 * Returns one statement for reads of the same text. Their values are the rows of a list, one array for each parameter, and
 * the text is evaluated for each row: no read sees the values of another one.
 */
export function joinedReads(statements: readonly BoundStatement[]): BoundStatement {
  const [{ sql: read }] = statements as readonly [BoundStatement]
  let text = joinedTexts.get(read)
  if (text === undefined) {
    text = joinedRead(read)
    joinedTexts.set(read, text)
  }
  return { sql: text, values: arraysOf(statements) }
}

function joinedRead(read: Sql): Sql {
  const { list, inList } = listOf(read.slots)
  return sql`select each.n - 1, read.* from ${list} cross join lateral (${inList(read)}) as read`
}

/** Returns the text of one statement for updates of different rows. Each of its rows begins with the index of its update. */
export function joinedUpdate({ set, where, returned }: UpdateClauses): Sql {
  const { list, inList } = listOf([...set.slots, ...where.slots])
  return sql`${inList(set)} from ${list}${inList(where, set.slots.length)} returning each.n - 1, ${returned}`
}

/** Returns the values of statements as arrays, one for each parameter. */
export function arraysOf(statements: readonly BoundStatement[]): readonly string[] {
  const [first] = statements as readonly [BoundStatement]
  return first.values.map((_, at) => arrayOf(statements, at))
}

/** Returns the list of the values of parameters, and what replaces the parameters of a fragment by the columns of the list. */
function listOf(slots: readonly Slot[]) {
  const names = [...slots.map((_, at) => `v${at}`), 'n'].join(', ')
  const list: Sql = {
    texts: [
      'unnest(',
      ...slots.slice(1).map(() => '::text[], '),
      `::text[]) with ordinality as each (${names})`,
    ],
    slots,
  }
  const inList = (text: Sql, first = 0): Sql =>
    raw(
      text.texts.reduce((before, part, at) => {
        const slot = text.slots[at - 1] as Slot
        // A parameter is a number where LIMIT needs one, and a column must be converted.
        const type = slot === limitSlot || slot === offsetSlot ? '::bigint' : ''
        return `${before}each.v${first + at - 1}${type}${part}`
      }),
    )
  return { list, inList }
}

function arrayOf(statements: readonly BoundStatement[], at: number): string {
  let array = ''
  for (const { values } of statements) {
    const value = values[at] ?? null
    const item = value === null ? 'null' : `"${escaped(String(value))}"`
    array += array === '' ? item : `,${item}`
  }
  return `{${array}}`
}

function escaped(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\')
  return isPlain ? text : text.replace(/["\\]/g, '\\$&')
}
