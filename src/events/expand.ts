import type { StoredValue } from '../definition/field-type.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { messageFrom, withMessage } from '../messages/message.ts'
import type { JsonText, ValidationEntry } from '../protocol/envelope.ts'
import type { Expanded, FilterEvent } from '../request/event.ts'
import type { Outcome, PageOutcome, RejectedOutcome } from '../request/outcome.ts'
import { planPage, withRows } from '../request/plan-query.ts'
import { equal, type Condition, type Row } from '../request/query.ts'
import { clientMistakes, sortOrder } from '../request/resolve.ts'
import { encodeRow, encodeRows } from '../request/serialize.ts'

/** Runs the Filter of another collection as an event of the same caller. */
type Run = (event: FilterEvent, form: 'text' | 'rows') => MaybePromise<Outcome>

/**
 * Returns an outcome whose items have the members of their relations. What they contain is read by a Filter of the other
 * collection, with the rights and the code of every other Filter.
 */
export async function withRelated(
  outcome: Outcome,
  event: FilterEvent,
  run: Run,
): Promise<Outcome> {
  if (outcome.type === 'rejected') return outcome
  const rows = rowsIn(outcome)
  const { expanded = [] } = event
  const relations = await whenAllEnd(expanded.map((one) => readRelation(one, rows, run)))
  const rejected = relations.find(({ rejection }) => rejection !== undefined)?.rejection
  if (rejected !== undefined) return rejected
  const { collection, select } = outcome
  const items = rows.map((row) => {
    const item = encodeRow(collection, row, select).slice(0, -1)
    const members = relations.map(({ start, valueOf }) => start + valueOf(row))
    return `${item}${item === '{' ? '' : ','}${members.join()}}`
  })
  const validations = [...outcome.validations, ...relations.flatMap(({ findings }) => findings)]
  if (outcome.type === 'page') return { ...outcome, page: { items }, validations }
  const [json = '{}'] = items
  const [stored] = rows
  return { ...(stored && { stored }), ...outcome, item: { json }, validations }
}

function rowsIn(outcome: Exclude<Outcome, RejectedOutcome>): readonly Row[] {
  const found = outcome.type === 'page' ? outcome.page : outcome.item
  if ('rows' in found) return found.rows
  return 'row' in found ? [found.row] : []
}

/** Returns all results. Rejects with the first error only when everything has ended: handlers use the transaction. */
async function whenAllEnd<Result>(work: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** The items of another collection that belong to those of a response. */
interface Relation {
  /** The name of its member, as JSON text with a colon. */
  readonly start: string
  /** Returns the value of the member of an item, as JSON text. */
  valueOf(row: Row): JsonText
  readonly findings: readonly ValidationEntry[]
  /** Why an event of the other collection was rejected; undefined if none was. */
  readonly rejection: RejectedOutcome | undefined
}

async function readRelation(expanded: Expanded, rows: readonly Row[], run: Run): Promise<Relation> {
  const { name, own, isMany } = expanded.expansion
  const keyOf = (row: Row): readonly StoredValue[] => own.map((field) => row[field.name] ?? null)
  const keys = new Map<string, readonly StoredValue[]>()
  for (const row of rows) {
    const key = keyOf(row)
    if (!key.includes(null)) keys.set(JSON.stringify(key), key)
  }
  const values = new Map<string, JsonText>()
  const findings: ValidationEntry[] = []
  let rejection: RejectedOutcome | undefined
  const pages = isMany
    ? listPages(expanded, [...keys.values()])
    : itemPage(expanded, [...keys.values()])
  const outcomes = await whenAllEnd(pages.map(async ({ event, form }) => run(event, form)))
  for (const [index, outcome] of outcomes.entries()) {
    const entries = outcome.validations.map(withoutField)
    if (outcome.type === 'page') {
      findings.push(...entries)
      pages[index]?.note(outcome, values)
    } else if (outcome.type === 'rejected') rejection ??= { ...outcome, validations: entries }
  }
  const none = isMany ? '{"items":[],"more":false}' : 'null'
  return {
    start: `${JSON.stringify(name)}:`,
    valueOf: (row) => values.get(JSON.stringify(keyOf(row))) ?? none,
    findings,
    rejection,
  }
}

/** A page of another collection, and what its items are the values of. */
interface RelatedPage {
  readonly event: FilterEvent
  readonly form: 'text' | 'rows'
  note(page: PageOutcome, values: Map<string, JsonText>): void
}

/** Returns the page of the items to which references lead. */
function itemPage(
  { expansion: { to, theirs }, view }: Expanded,
  keys: readonly (readonly StoredValue[])[],
): readonly RelatedPage[] {
  if (keys.length === 0) return []
  const conditions = [anyOf(theirs, keys)]
  const limits = { sort: sortOrder(to, [], clientMistakes), limit: keys.length }
  return [
    {
      event: planPage(view, { conditions, ...limits }, theirs),
      form: 'rows',
      note({ page, select }, values) {
        for (const row of 'rows' in page ? page.rows : []) {
          const key = theirs.map(({ name }) => row[name] ?? null)
          values.set(JSON.stringify(key), encodeRow(to, row, select))
        }
      },
    },
  ]
}

function anyOf(
  fields: readonly { readonly name: string }[],
  keys: readonly (readonly StoredValue[])[],
): Condition {
  const [field] = fields
  if (fields.length === 1 && field !== undefined) {
    const values = keys.flatMap(([value = null]) => (value === null ? [] : [value]))
    return { field: field.name, is: 'in', values }
  }
  const conditions = keys.map((key): Condition => ({ is: 'and', conditions: equalTo(fields, key) }))
  return { is: 'or', conditions }
}

function equalTo(
  fields: readonly { readonly name: string }[],
  key: readonly StoredValue[],
): readonly Condition[] {
  return fields.map(({ name }, index) => equal(name, key[index] ?? null))
}

/** Returns the pages of the items that refer to others, one for each of these. Storage reads equal ones together. */
function listPages(
  { expansion: { to, theirs, sort, limit }, view }: Expanded,
  keys: readonly (readonly StoredValue[])[],
): readonly RelatedPage[] {
  // One more item shows whether the list is complete.
  const limits = { sort: sortOrder(to, sort, clientMistakes), limit: limit + 1 }
  const plan = planPage(view, { conditions: [], ...limits })
  return keys.map((key) => ({
    event: {
      ...plan,
      query: { ...plan.query, conditions: withRows(equalTo(theirs, key), view) },
    },
    form: 'text',
    note({ page, select }, values) {
      const items = 'items' in page ? page.items : encodeRows(to, page.rows, select)
      const shown = items.slice(0, limit).join()
      values.set(JSON.stringify(key), `{"items":[${shown}],"more":${items.length > limit}}`)
    },
  }))
}

// It is a field of the other collection.
function withoutField(entry: ValidationEntry): ValidationEntry {
  const { field: _field, ...rest } = entry
  const message = messageFrom(entry)
  return message === undefined ? rest : withMessage(rest, message)
}
