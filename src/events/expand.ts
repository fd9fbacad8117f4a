import type { StoredValue } from '../definition/field-type.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { messageFrom, withMessage } from '../messages/message.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { JsonText, ValidationEntry } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import type { Expanded, FilterEvent } from '../request/event.ts'
import type { Outcome, PageOutcome, RejectedOutcome } from '../request/outcome.ts'
import { planPage, withRows } from '../request/plan-query.ts'
import { equal, type Condition, type Row } from '../request/query.ts'
import { clientMistakes, sortOrder } from '../request/resolve.ts'
import { encodeRow, itemOf } from '../request/serialize.ts'

/** Reads the related items of an event. */
export interface RelatedReader {
  /** Runs the Filter of another collection as an event of the same caller. */
  readonly run: (event: FilterEvent, form: 'text' | 'rows') => MaybePromise<Outcome>
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
  const items = rows.map((row) => {
    const item = encodeRow(collection, row, select).slice(0, -1)
    const members = read.relations.map(({ name, valueOf }) => `"${name}":${valueOf(row)}`)
    return `${item}${item === '{' ? '' : ','}${members.join()}}`
  })
  const validations = [...outcome.validations, ...read.findings]
  if (outcome.type === 'page') return { ...outcome, page: { items }, validations }
  const [json = '{}'] = items
  const [stored] = rows
  return { ...(stored && { stored }), ...outcome, item: { json }, validations }
}

async function withValues(
  outcome: FoundOutcome,
  { expanded = [] }: FilterEvent,
  reader: RelatedReader,
): Promise<Outcome> {
  const rows = rowsIn(outcome)
  const read = await readRelations(expanded, rows, { ...reader, ...asValue })
  if ('type' in read) return read
  const related = rows.map((row) =>
    Object.fromEntries(read.relations.map(({ name, valueOf }) => [name, valueOf(row)])),
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

const asText: Writer<JsonText> = {
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

/** Returns all results. Rejects with the first error only when everything has ended: handlers use the transaction. */
async function whenAllEnd<Result>(work: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** The items of another collection that belong to those of a response. */
interface Relation<Value> {
  readonly name: string
  /** Returns the value of the member of an item. */
  valueOf(row: Row): Value
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
  const keyOf = (row: Row): readonly StoredValue[] => own.map((field) => row[field.name] ?? null)
  const keys = new Map<string, readonly StoredValue[]>()
  for (const row of rows) {
    const key = keyOf(row)
    if (!key.includes(null)) keys.set(JSON.stringify(key), key)
  }
  const values = new Map<string, Value>()
  const findings: ValidationEntry[] = []
  let rejection: RejectedOutcome | undefined
  const read = isMany ? listPages<Value> : itemPage<Value>
  const pages = read(expanded, [...keys.values()], reader)
  const outcomes = await whenAllEnd(pages.map(async ({ event, form }) => reader.run(event, form)))
  for (const [index, outcome] of outcomes.entries()) {
    const entries = outcome.validations.map(withoutField)
    if (outcome.type === 'page') {
      findings.push(...entries)
      pages[index]?.note(outcome, values)
    } else if (outcome.type === 'rejected') rejection ??= { ...outcome, validations: entries }
  }
  const none = (): Value => (isMany ? reader.list([], false) : reader.none)
  return {
    name,
    valueOf: (row) => values.get(JSON.stringify(keyOf(row))) ?? none(),
    findings,
    rejection,
  }
}

/** A page of another collection, and what its items are the values of. */
interface RelatedPage<Value> {
  readonly event: FilterEvent
  readonly form: 'text' | 'rows'
  note(page: PageOutcome, values: Map<string, Value>): void
}

/** Returns the page of the items to which references lead. */
function itemPage<Value>(
  { expansion: { to, theirs }, view }: Expanded,
  keys: readonly (readonly StoredValue[])[],
  writer: Writer<Value>,
): readonly RelatedPage<Value>[] {
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
          values.set(JSON.stringify(key), writer.item(to, row, select))
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
function listPages<Value>(
  { expansion: { to, theirs, sort, limit }, view }: Expanded,
  keys: readonly (readonly StoredValue[])[],
  writer: RelatedReader & Writer<Value>,
): readonly RelatedPage<Value>[] {
  // One more item shows whether the list is complete.
  const limits = { sort: sortOrder(to, sort, clientMistakes), limit: limit + 1 }
  const plan = planPage(view, { conditions: [], ...limits })
  return keys.map((key) => ({
    event: {
      ...plan,
      query: { ...plan.query, conditions: withRows(equalTo(theirs, key), view) },
    },
    form: writer.form,
    note({ page, select }, values) {
      const items =
        'items' in page
          ? page.items.map((text) => writer.written(text))
          : page.rows.map((row) => writer.item(to, row, select))
      values.set(JSON.stringify(key), writer.list(items.slice(0, limit), items.length > limit))
    },
  }))
}

// It is a field of the other collection.
function withoutField(entry: ValidationEntry): ValidationEntry {
  const { field: _field, ...rest } = entry
  const message = messageFrom(entry)
  return message === undefined ? rest : withMessage(rest, message)
}
