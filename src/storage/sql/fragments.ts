import type { StoredValue } from '../../definition/field-type.ts'
import type { Condition, Row } from '../adapter.ts'

/** What an update writes, by the name of the field: a value, or an amount that is added to the stored one. */
export type RowChanges = Readonly<Record<string, StoredValue | Amount>>

/** What is added to a stored value. */
export interface Amount {
  readonly amount: string
}

/** Returns changes with amounts. */
export function withAmounts(
  changes: Row,
  increments: Readonly<Record<string, string>> | undefined,
): RowChanges {
  if (increments === undefined) return changes
  const amounts = Object.entries(increments).map(([name, amount]) => [name, { amount }] as const)
  return { ...changes, ...Object.fromEntries(amounts) }
}

/** Returns whether a change is an amount. */
export function isAmount(change: StoredValue | Amount | undefined): change is Amount {
  return typeof change === 'object' && change !== null
}

/** The values that a statement may bind. */
export interface Inputs {
  readonly conditions: readonly Condition[]
  readonly row?: RowChanges
  readonly needle?: string
  readonly limit?: number
  readonly offset?: number
  /** The doubles of a field whose text contains the needle. */
  readonly doubles?: ReadonlyMap<unknown, readonly number[]>
  /** What the parts of the statement bind, such as the pages of relations. */
  readonly parts?: readonly Inputs[]
}

/** A value that a statement binds. */
export type BoundValue = string | number | bigint | null | Uint8Array

/** A parameter of a statement. */
export interface Slot {
  read(inputs: Inputs): BoundValue
  /** Whether it is the value of an `equal` condition of the query itself, and not of one inside of another. */
  readonly isOwnEqual?: boolean
  /** Whether its value, a number, is part of the text that is sent, because the plan depends on it. Default false. */
  readonly isWritten?: boolean
}

/** Where a page ends. The parameter has no type of its own in the text. */
export const limitSlot: Slot = { read: ({ limit }) => limit as number }

/** Where a page begins. The parameter has no type of its own in the text. */
export const offsetSlot: Slot = { read: ({ offset }) => offset as number }

/**
 * A power of four that the end of a page does not exceed. A database that plans a statement once for any values would
 * otherwise take a tenth of the rows for a page.
 */
export const boundSlot: Slot = {
  read({ limit, offset }) {
    let bound = 1
    while (bound < (limit as number) + (offset as number)) bound *= 4
    return bound
  },
  isWritten: true,
}

/** The end of a page, counted from the first row. */
export const endSlot: Slot = { read: ({ limit, offset }) => (limit as number) + (offset as number) }

/** The number of rows before the last one of a page. */
export const lastSlot: Slot = {
  read: ({ limit, offset }) => Math.max(0, (limit as number) + (offset as number) - 1),
}

/** A fragment of SQL. */
export interface Sql {
  /** The text before, between and after the parameters: one string more than there are parameters. */
  readonly texts: readonly string[]
  readonly slots: readonly Slot[]
  /** Whether it is a statement whose best plan depends on its values, so that it is planned for each run. Default false. */
  readonly isPlannedByValues?: boolean
}

/** Writes a fragment of SQL from fragments and parameters: sql`select ${column} where ${column} = ${slot}`. */
export function sql(strings: TemplateStringsArray, ...values: readonly (Sql | Slot)[]): Sql {
  const draft = { texts: [strings[0] as string], slots: [] }
  for (const [index, value] of values.entries()) {
    append(draft, 'texts' in value ? value : { texts: ['', ''], slots: [value] })
    append(draft, raw(strings[index + 1] as string))
  }
  return draft
}

interface SqlDraft {
  readonly texts: string[]
  readonly slots: Slot[]
}

// A list may have thousands of parameters: nothing that is already there is copied.
function append({ texts, slots }: SqlDraft, fragment: Sql): void {
  for (const [index, text] of fragment.texts.entries()) {
    if (index === 0) texts.push(`${texts.pop() ?? ''}${text}`)
    else texts.push(text)
  }
  for (const slot of fragment.slots) slots.push(slot)
}

/** Returns a fragment whose parameters are the inputs of a part. */
export function ofPart({ texts, slots }: Sql, at: number): Sql {
  const own = slots.map((slot): Slot => ({
    ...slot,
    read: ({ parts }) => slot.read(parts?.[at] as Inputs),
  }))
  return { texts, slots: own }
}

/** Returns a fragment in which a text stands for a parameter. */
export function withText({ texts, slots }: Sql, slot: Slot, text: string): Sql {
  const draft = { texts: [texts[0] as string], slots: [] }
  for (const [index, own] of slots.entries()) {
    const before = own === slot ? raw(text) : { texts: ['', ''], slots: [own] }
    append(draft, before)
    append(draft, raw(texts[index + 1] as string))
  }
  return draft
}

/** Returns text as a fragment, unchanged. It must not contain input of clients. */
export function raw(text: string): Sql {
  return { texts: [text], slots: [] }
}

/** Returns a name in double quotes, or several with points between them. */
export function identifier(...names: readonly string[]): Sql {
  return raw(names.map(quoted).join('.'))
}

/** Returns a string literal. */
export function literal(text: string): Sql {
  return raw(literalText(text))
}

/** Returns a string literal as text. */
export function literalText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Joins fragments, by default with commas. */
export function join(fragments: readonly Sql[], separator: Sql = raw(', ')): Sql {
  const draft = { texts: [''], slots: [] }
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) append(draft, separator)
    append(draft, fragment)
  }
  return draft
}

// SQLite rejects an expression of more than 1,000 levels, and each operator is one.
const termsAtOnce = 100

/** Returns terms with an operator between them, in parentheses. Many are nested in groups. */
export function grouped(terms: readonly Sql[], operator: Sql): Sql {
  if (terms.length <= termsAtOnce) return sql`(${join(terms, operator)})`
  const groups = Array.from({ length: Math.ceil(terms.length / termsAtOnce) }, (_, at) =>
    grouped(terms.slice(at * termsAtOnce, (at + 1) * termsAtOnce), operator),
  )
  return grouped(groups, operator)
}

/** Returns the rows of VALUES. */
export function rowsOf(rows: readonly (readonly Sql[])[]): Sql {
  return join(rows.map((values) => sql`(${join(values)})`))
}

/** Returns the term that both of two terms are true. Without the first one: the second one. */
export function both(first: Sql | undefined, second: Sql): Sql {
  return first === undefined ? second : sql`(${first} and ${second})`
}

/** Returns a name in double quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
