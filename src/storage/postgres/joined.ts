import type { BoundStatement } from '../pool/connection.ts'
import {
  join,
  limitSlot,
  offsetSlot,
  raw,
  sql,
  type BoundValue,
  type Slot,
  type Sql,
} from '../sql/fragments.ts'
import type { JoinedUpdates, UpdateClauses } from '../sql/dialect.ts'
import { unionOf } from '../sql/union-reads.ts'
import { assignments } from '../sql/write-statements.ts'

// Statements of one shape have the same object.
const joinedTexts = new WeakMap<Sql, Sql>()

/** Returns one statement for reads of the same text. No read sees the values of another one. */
export function joinedReads(statements: readonly BoundStatement[]): BoundStatement {
  const [{ sql: read }] = statements as readonly [BoundStatement]
  const isPlanned = read.isPlannedByValues === true && statements.length <= maxPlanned
  return isPlanned ? unionOf(statements, numbered) : listedReads(read, statements)
}

// It takes longer to plan more of them than to read their rows.
const maxPlanned = 16

function numbered(read: Sql, number: number): Sql {
  return sql`(select ${raw(String(number))}, read.* from (${read}) as read)`
}

/**
 * Returns one statement for any number of reads. Their values are the rows of a list, one array for each parameter, and the
 * text is evaluated for each row.
 */
function listedReads(read: Sql, statements: readonly BoundStatement[]): BoundStatement {
  const text = joinedText(read, () => joinedRead(read))
  return { sql: text, values: [...arraysOf(statements), ...writtenOf(statements)] }
}

function joinedText(single: Sql, create: () => Sql): Sql {
  const text = joinedTexts.get(single) ?? create()
  joinedTexts.set(single, text)
  return text
}

/** Returns the values that are written into the text of one statement for several. The plan is made for the longest page. */
function writtenOf(statements: readonly BoundStatement[]): readonly BoundValue[] {
  const [{ sql: read }] = statements as readonly [BoundStatement]
  return read.slots.flatMap(({ isWritten }, at) =>
    isWritten === true ? Math.max(...statements.map(({ values }) => Number(values[at]))) : [],
  )
}

function joinedRead(read: Sql): Sql {
  const { list, inList } = listOf(read.slots)
  return sql`select each.n - 1, read.* from ${list} cross join lateral (${inList(read)}) as read`
}

/** Returns one statement for updates of different rows. Each of its rows begins with the index of its update. */
export function joinedUpdates({ statements, clauses }: JoinedUpdates): BoundStatement {
  const [{ sql: update }] = statements as readonly [BoundStatement]
  return {
    sql: joinedText(update, () => joinedUpdate(clauses())),
    values: arraysOf(statements),
  }
}

function joinedUpdate(clauses: UpdateClauses): Sql {
  const { table, terms, returned } = clauses
  const set = assignments(clauses)
  const where = join(terms, raw(' and '))
  const { list, inList } = listOf([...set.slots, ...where.slots])
  return sql`update ${table} set ${inList(set)} from ${list} where ${inList(where)} returning each.n - 1, ${returned}`
}

/** Returns the values of statements as arrays, one for each parameter. */
function arraysOf(statements: readonly BoundStatement[]): readonly string[] {
  const [{ sql: text, values }] = statements as readonly [BoundStatement]
  return values.flatMap((_, at) =>
    text.slots[at]?.isWritten === true ? [] : arrayOf(statements, at),
  )
}

/** Returns the list of the values of parameters, and what replaces the parameters of a fragment by the columns of the list. */
function listOf(all: readonly Slot[]) {
  const slots = all.filter(({ isWritten }) => isWritten !== true)
  const names = [...slots.map((_, at) => `v${at}`), 'n'].join(', ')
  // The server would plan for the number of values in an array that it sees, and so again for each run.
  const arrays = join(slots.map((slot) => sql`(select ${slot}::text[])`))
  const list = sql`unnest(${arrays}) with ordinality as each (${raw(names)})`
  let column = 0
  const inList = (text: Sql): Sql =>
    text.slots.reduce(
      (before, slot, at) => {
        const after = raw(text.texts[at + 1] as string)
        if (slot.isWritten === true) return sql`${before}${slot}${after}`
        // A parameter is a number where LIMIT needs one, and a column must be converted.
        const type = slot === limitSlot || slot === offsetSlot ? '::bigint' : ''
        return sql`${before}${raw(`each.v${column++}${type}`)}${after}`
      },
      raw(text.texts[0] as string),
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
