import type { StoredValue } from '../../definition/field-type.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { messageFrom, withMessage } from '../../messages/message.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { JsonText, ValidationEntry } from '../../protocol/envelope.ts'
import type { Json } from '../../protocol/json.ts'
import type { Expanded, FilterEvent } from '../../request/event.ts'
import type { Outcome, PageOutcome, RejectedOutcome } from '../../request/outcome.ts'
import { planPage, withRows } from '../../request/plan-query.ts'
import { allEqual, anyEqual, type Row } from '../../request/query.ts'
import { clientMistakes, sortOrder } from '../../request/resolve.ts'
import { encodeRow, itemOf } from '../../request/serialize.ts'

/** Reads the related items of an event. */
export interface RelatedReader {
  /**
   * Runs Filters of another collection as events of the same caller. They differ only in the values of their conditions. Rejects
   * only when all have ended: handlers use the transaction.
   */
  readonly run: (
    events: readonly FilterEvent[],
    form: 'text' | 'rows',
  ) => Promise<readonly Outcome[]>
  /** Runs the reads of a relation as one of its trace. */
  readonly traced: <Read extends { readonly rejection: unknown }>(
    expanded: Expanded,
    read: () => Promise<Read>,
  ) => MaybePromise<Read>
  /** `text` for a response, `rows` for application code. */
  readonly form: 'text' | 'rows'
}

/**
 * Returns an outcome whose items have the members of their relations. What they contain is read by a Filter of the other
 * collection, with the rights and the code of every other Filter.
 */
export function withRelated(
  outcome: Outcome,
  event: FilterEvent,
  reader: RelatedReader,
): MaybePromise<Outcome> {
  if (outcome.type === 'rejected') return outcome
  return reader.form === 'text'
    ? withTexts(outcome, event, reader)
    : withValues(outcome, event, reader)
}

type FoundOutcome = Exclude<Outcome, RejectedOutcome>

async function withTexts(
  outcome: FoundOutcome,
  { expanded = [] }: FilterEvent,
  reader: RelatedReader,
): Promise<Outcome> {
  const rows = rowsIn(outcome)
  const read = await readRelations(expanded, rows, { ...reader, ...asText })
  if ('type' in read) return read
  const { collection, select } = outcome
  const items = rows.map((row, index) =>
    withMembers(
      encodeRow(collection, row, select),
      read.relations.map(({ name, values }) => [name, values[index] as JsonText]),
    ),
  )
  const validations = [...outcome.validations, ...read.findings]
  if (outcome.type === 'page') return { ...outcome, page: { items }, validations }
  const [json = '{}'] = items
  const [stored] = rows
  return { ...(stored && { stored }), ...outcome, item: { json }, validations }
}

/** Returns the text of an item with further members. */
export function withMembers(
  item: JsonText,
  members: readonly (readonly [name: string, value: JsonText])[],
): JsonText {
  const own = item.slice(0, -1)
  return `${own}${own === '{' ? '' : ','}${members.map(([name, value]) => `"${name}":${value}`).join()}}`
}

async function withValues(
  outcome: FoundOutcome,
  { expanded = [] }: FilterEvent,
  reader: RelatedReader,
): Promise<Outcome> {
  const rows = rowsIn(outcome)
  const read = await readRelations(expanded, rows, { ...reader, ...asValue })
  if ('type' in read) return read
  const related = rows.map((_, index) =>
    Object.fromEntries(read.relations.map(({ name, values }) => [name, values[index] as Json])),
  )
  const validations = [...outcome.validations, ...read.findings]
  if (outcome.type === 'page') return { ...outcome, related, validations }
  const [own = {}] = related
  return { ...outcome, related: own, validations }
}

/** How the value of a member is written. */
interface Writer<Value> {
  readonly none: Value
  item(collection: PublishedCollection, row: Row, select: readonly string[]): Value
  list(items: readonly Value[], more: boolean): Value
  /** Returns an item that storage has written. */
  written(text: JsonText): Value
}

/** Writes JSON text. */
export const asText: Writer<JsonText> = {
  none: 'null',
  item: encodeRow,
  list: (items, more) => `{"items":[${items.join()}],"more":${more}}`,
  written: (text) => text,
}

const asValue: Writer<Json> = {
  none: null,
  item: itemOf,
  list: (items, more) => ({ items, more }),
  written: (text) => JSON.parse(text) as Json,
}

async function readRelations<Value>(
  expanded: readonly Expanded[],
  rows: readonly Row[],
  reader: RelatedReader & Writer<Value>,
): Promise<
  | RejectedOutcome
  | {
      readonly relations: readonly Relation<Value>[]
      readonly findings: readonly ValidationEntry[]
    }
> {
  const relations = await whenAllEnd(
    expanded.map(async (one) => reader.traced(one, () => readRelation(one, rows, reader))),
  )
  const rejected = relations.find(({ rejection }) => rejection !== undefined)?.rejection
  const findings = relations.flatMap((one) => one.findings)
  // A handler may add the same finding to every list.
  const distinct = new Map(findings.map((one) => [JSON.stringify(one), one]))
  return rejected ?? { relations, findings: [...distinct.values()] }
}

function rowsIn(outcome: FoundOutcome): readonly Row[] {
  const found = outcome.type === 'page' ? outcome.page : outcome.item
  if ('rows' in found) return found.rows
  return 'row' in found ? [found.row] : []
}

/** Returns all results. Rejects with the first error only when everything has ended. */
export async function whenAllEnd<Result>(
  work: readonly Promise<Result>[],
): Promise<readonly Result[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** The items of another collection that belong to those of a response. */
interface Relation<Value> {
  readonly name: string
  /** The value of the member of each item. */
  readonly values: readonly Value[]
  readonly findings: readonly ValidationEntry[]
  /** Why an event of the other collection was rejected; undefined if none was. */
  readonly rejection: RejectedOutcome | undefined
}

async function readRelation<Value>(
  expanded: Expanded,
  rows: readonly Row[],
  reader: RelatedReader & Writer<Value>,
): Promise<Relation<Value>> {
  const { name, own, isMany } = expanded.expansion
  const keys: Keys = new Map()
  const texts = rows.map((row) => {
    const key = keyIn(own, row)
    const text = JSON.stringify(key)
    if (!key.includes(null)) keys.set(text, key)
    return text
  })
  const values = new Map<string, Value>()
  const findings: ValidationEntry[] = []
  let rejection: RejectedOutcome | undefined
  const { events, form, note } = (isMany ? listReads<Value> : itemReads<Value>)(
    expanded,
    keys,
    reader,
  )
  const outcomes = keys.size === 0 ? [] : await reader.run(events, form)
  for (const [index, outcome] of outcomes.entries()) {
    const entries = outcome.validations.map(withoutField)
    if (outcome.type === 'page') {
      findings.push(...entries)
      note(outcome, index, values)
    } else if (outcome.type === 'rejected') rejection ??= { ...outcome, validations: entries }
  }
  const none = (): Value => (isMany ? reader.list([], false) : reader.none)
  return { name, values: texts.map((text) => values.get(text) ?? none()), findings, rejection }
}

function namesOf(fields: readonly { readonly name: string }[]): readonly string[] {
  return fields.map(({ name }) => name)
}

/** The values by which items are related, by their text. None contains null. */
type Keys = Map<string, readonly StoredValue[]>

function keyIn(fields: readonly { readonly name: string }[], row: Row): readonly StoredValue[] {
  return fields.map(({ name }) => row[name] ?? null)
}

/** The Filters of a relation, and what their items are the values of. */
interface RelatedReads<Value> {
  readonly events: readonly FilterEvent[]
  readonly form: 'text' | 'rows'
  /** Notes the values in the page of an event. */
  readonly note: (page: PageOutcome, index: number, values: Map<string, Value>) => void
}

/** Returns one read of the items to which references lead. */
function itemReads<Value>(
  { expansion: { to, theirs }, view }: Expanded,
  keys: Keys,
  writer: Writer<Value>,
): RelatedReads<Value> {
  const conditions = [anyEqual(namesOf(theirs), [...keys.values()])]
  const limits = { sort: sortOrder(to, [], clientMistakes), limit: keys.size }
  return {
    events: [planPage(view, { conditions, ...limits }, theirs)],
    form: 'rows',
    note({ page, select }, _, values) {
      for (const row of 'rows' in page ? page.rows : [])
        values.set(JSON.stringify(keyIn(theirs, row)), writer.item(to, row, select))
    },
  }
}

/** Returns a read of the items that refer to another one, for each of these. */
function listReads<Value>(
  { expansion: { to, theirs, sort, limit }, view }: Expanded,
  keys: Keys,
  writer: RelatedReader & Writer<Value>,
): RelatedReads<Value> {
  // One more item shows whether the list is complete.
  const limits = { sort: sortOrder(to, sort, clientMistakes), limit: limit + 1 }
  const plan = planPage(view, { conditions: [], ...limits })
  const texts = [...keys.keys()]
  const names = namesOf(theirs)
  return {
    events: Array.from(keys.values(), (key) => ({
      ...plan,
      query: { ...plan.query, conditions: withRows(allEqual(names, key), view) },
    })),
    form: writer.form,
    note({ page, select }, index, values) {
      const items =
        'items' in page
          ? page.items.map((text) => writer.written(text))
          : page.rows.map((row) => writer.item(to, row, select))
      const list = writer.list(items.slice(0, limit), items.length > limit)
      values.set(texts[index] as string, list)
    },
  }
}

// It is a field of the other collection.
function withoutField(entry: ValidationEntry): ValidationEntry {
  const { field: _field, ...rest } = entry
  const message = messageFrom(entry)
  return message === undefined ? rest : withMessage(rest, message)
}
