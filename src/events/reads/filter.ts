import type { AfterFilter, BeforeFilter } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import { notFound } from '../../errors.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { clientKeyOf } from '../../protocol/ip-address.ts'
import { acceptedRow } from '../../request/item-values.ts'
import type { FilterEvent } from '../../request/event.ts'
import type { Condition, Row } from '../../request/query.ts'
import { decideFindings } from '../../request/findings.ts'
import {
  reject,
  type ItemOutcome,
  type Outcome,
  type PageNotes,
  type PageOutcome,
} from '../../request/outcome.ts'
import { itemOf } from '../../request/serialize.ts'
import { wholeView } from '../../request/view.ts'
import { conditionsOf } from './conditions.ts'
import type {
  ReadContext,
  StorageAdapter,
  StoragePage,
  StorageReader,
  StorageTextPage,
} from '../../storage/adapter.ts'
import { filterByCursor, filterPaged, readRows, type FilterSource } from './paged.ts'
import type { Caller } from '../runtime.ts'
import type { Scope } from '../scope.ts'
import type { Unit } from '../units/unit.ts'

/**
 * Runs a Filter without application code. Outside of a transaction it returns JSON text, if `form` allows and the
 * adapter supports it.
 */
export function filterDirectly(
  event: FilterEvent,
  { runtime, transaction, budget: { deadline } }: Unit,
  caller: Caller,
  form: 'text' | 'rows',
): MaybePromise<Outcome> {
  const { collection, paging, output } = event
  const { principal } = caller
  if (transaction !== undefined) {
    if (paging?.cursor === undefined) return filterAsRows(transaction, event)
    const read: FilterSource = (query) => transaction.filter(collection, query)
    return filterByCursor(read, event, paging.cursor, principal)
  }
  const { adapter } = runtime
  const context = contextOf(caller, deadline)
  if (paging !== undefined)
    return filterPaged(adapter, event, paging, { caller: principal, form, context })
  return form === 'text' && output === undefined
    ? filterAsText(adapter, event, context)
    : filterAsRows(adapter, event, context)
}

/**
 * Runs Filters that differ only in the values of their conditions, together, for a response. Undefined if storage can't
 * write their items as text, or not together.
 */
export function filterTogether(
  events: readonly FilterEvent[],
  { runtime, transaction, budget: { deadline } }: Unit,
  caller: Caller,
): MaybePromise<readonly Outcome[] | undefined> {
  const [first] = events
  const isText = first?.collection.filtersDirectly === true && first.output === undefined
  if (!isText || transaction !== undefined) return undefined
  const context = contextOf(caller, deadline)
  const queries = events.map(({ query }) => query)
  const pages = runtime.adapter.filterTexts?.(first.collection, queries, context)
  return whenDone(pages, (read) =>
    read?.map((page, index) => textOutcome(events[index] as FilterEvent, page)),
  )
}

/** Returns for whom storage reads. */
export function contextOf(caller: Caller, deadline: number | undefined): ReadContext {
  return { signal: caller.signal, caller: () => shareOf(caller), deadline }
}

/** Returns the name under which the reads of a caller are counted: its user, or its address if it has no user. */
function shareOf({ principal, peer }: Caller): string {
  const { user, keyId } = principal
  return user ?? keyId ?? clientKeyOf(peer?.())
}

/** Runs a Filter that is one read. Returns JSON text if the adapter can write it, else rows. */
export function filterAsText(
  adapter: StorageAdapter,
  event: FilterEvent,
  context?: ReadContext,
): MaybePromise<Outcome> {
  return whenDone(adapter.filterText?.(event.collection, event.query, context), (text) =>
    text === undefined ? filterAsRows(adapter, event, context) : textOutcome(event, text),
  )
}

function textOutcome(event: FilterEvent, { items, count }: StorageTextPage): Outcome {
  const { collection } = event
  const { select } = event.query
  if (event.result === 'page') {
    return { type: 'page', collection, select, page: { items }, count, validations: [] }
  }
  const [json] = items
  if (json === undefined) throw notFound()
  return { type: 'item', collection, select, item: { json }, validations: [] }
}

/** Runs a Filter that is one read, and returns rows. */
export function filterAsRows(
  reader: StorageReader,
  event: FilterEvent,
  context?: ReadContext,
): MaybePromise<Outcome> {
  return whenDone(reader.filter(event.collection, event.query, context), ({ rows, count }) =>
    outcomeOf(event, rows, count),
  )
}

/** Runs a Filter with handlers, or of a served collection: `before`, the query, `after`. */
export async function filterInScope(event: FilterEvent, scope: Scope): Promise<Outcome> {
  const { collection } = event
  const { before, after } = collection.events.Filter ?? {}
  const narrowing: Condition[] = []
  let rows: readonly Row[] = []
  let count: number | null = null
  let stored: Row | undefined
  let notes: PageNotes | undefined
  const cursor = event.paging?.cursor
  await scope.untilRejected(async () => {
    if (before !== undefined)
      await scope.call('before', () => before(narrowed(scope, event, narrowing)))
    // An `after` handler receives all fields, whatever the client selected.
    const whole = event.result === 'item' ? collection : wholeView(collection).listed
    const select = after === undefined ? event.query.select : whole.allNames
    const conditions = [...event.query.conditions, ...narrowing]
    const query = { ...event.query, conditions, select }
    const read: FilterSource = (own) => scope.source.filter(collection, own)
    const caller = scope.caller.principal
    const page: StoragePage & { readonly notes?: PageNotes } =
      cursor === undefined ? await read(query) : await readRows(read, query, cursor, caller)
    notes = page.notes
    if (event.result === 'item' && page.rows.length === 0) throw notFound()
    rows = page.rows.map((row) => selected(row, select))
    count = page.count
    if (after === undefined) return
    if (event.result === 'item' && collection.concurrency !== undefined) [stored] = rows
    // A handler may change items, but not which items are listed: the count and the next page depend on it.
    const items = Object.freeze(rows.map((row) => itemOf(collection, row, select)))
    const seen: AfterFilter<CollectionShape> = { items, ...scope.context() }
    await scope.call('after', () => after(seen))
    rows = await scope.call('after', () => items.map((item) => acceptedRow(collection, item)))
  })
  // Warnings need no confirmation on a Filter. They are listed.
  const subject = { view: event.view, event: 'Filter', key: [], data: {} } as const
  const { blocking, information } = await decideFindings(scope.findings, subject, noneConfirmed)
  if (blocking.some((entry) => entry.severity === 'error'))
    return reject('Filter', undefined, [...blocking, ...information])
  const validations = [...blocking, ...information]
  const outcome = { ...(notes && { notes }), ...outcomeOf(event, rows, count), validations }
  return stored === undefined || outcome.type === 'page' ? outcome : { stored, ...outcome }
}

const noneConfirmed: ReadonlySet<string> = new Set()

function narrowed(
  scope: Scope,
  event: FilterEvent,
  conditions: Condition[],
): BeforeFilter<CollectionShape> {
  const where: BeforeFilter<CollectionShape>['where'] = (given) => {
    conditions.push(...conditionsOf(event.collection, given, 'where'))
  }
  return { where, ...scope.context() }
}

function selected(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]))
}

function outcomeOf(
  event: FilterEvent,
  rows: readonly Row[],
  count: number | null,
): PageOutcome | ItemOutcome {
  const { collection } = event
  const { select } = event.query
  if (event.result === 'page') {
    return { type: 'page', collection, select, page: { rows }, count, validations: [] }
  }
  const [row] = rows
  if (row === undefined) throw notFound()
  return { type: 'item', collection, select, item: { row }, validations: [] }
}
