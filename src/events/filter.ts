import type { AfterFilter, BeforeFilter } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { notFound } from '../errors.ts'
import { acceptedItem } from '../request/accepted.ts'
import type { FilterEvent } from '../request/event.ts'
import type { Condition, ItemValues, Row } from '../request/query.ts'
import { decide } from '../request/findings.ts'
import { reject, type ItemOutcome, type Outcome, type PageOutcome } from '../request/outcome.ts'
import { itemOf } from '../request/serialize.ts'
import { stored } from '../request/submitted.ts'
import { wholeView } from '../request/view.ts'
import { conditionsOf } from './conditions.ts'
import type { StorageAdapter, StorageReader } from '../storage/adapter.ts'
import type { Scope } from './scope.ts'

/** Returns whether a Filter has handlers, and so needs a transaction. */
export function hasFilterHandlers({ collection }: FilterEvent): boolean {
  const { before, after } = collection.events.Filter ?? {}
  return before !== undefined || after !== undefined
}

/** Runs a Filter without handlers. Returns JSON text if the adapter can write it, else rows. */
export async function filterAsText(adapter: StorageAdapter, event: FilterEvent): Promise<Outcome> {
  const text = await adapter.filterText?.(event.collection, event.query)
  if (text === undefined) return filterAsRows(adapter, event)
  const { collection } = event
  const { select } = event.query
  if (event.result === 'item') {
    const [json] = text.items
    if (json === undefined) throw notFound()
    const item = { json }
    return { type: 'item', collection, select, item, validations: [] }
  }
  const { items, count } = text
  const json = `[${items.join(',')}]`
  return { type: 'page', collection, select, page: { json }, count, validations: [] }
}

/** Runs a Filter without handlers, and returns rows. */
export async function filterAsRows(reader: StorageReader, event: FilterEvent): Promise<Outcome> {
  const page = await reader.filter(event.collection, event.query)
  return outcomeOf(event, page.rows, page.count)
}

/** Runs a Filter with handlers: `before`, the query, `after`, in one transaction. */
export async function filterWithHandlers(event: FilterEvent, scope: Scope): Promise<Outcome> {
  const { collection } = event
  const { before, after } = collection.events.Filter ?? {}
  const narrowing: Condition[] = []
  let items: readonly ItemValues[] = []
  let count: number | null = null
  await scope.untilRejected(async () => {
    if (before !== undefined)
      await scope.call('before', () => before(narrowed(scope, event, narrowing)))
    // An `after` handler receives all fields, whatever the client selected.
    const whole = event.result === 'item' ? collection : wholeView(collection).listed
    const select = after === undefined ? event.query.select : whole.allNames
    const conditions = [...event.query.conditions, ...narrowing]
    const page = await scope.terms.running.transaction.filter(collection, {
      ...event.query,
      conditions,
      select,
    })
    if (event.result === 'item' && page.rows.length === 0) throw notFound()
    items = page.rows.map((row) => itemOf(collection, row, select))
    count = page.count
    if (after === undefined) return
    const seen: AfterFilter<CollectionShape> = { ...scope.context(), items }
    await scope.call('after', () => after(seen))
    items = await scope.call('after', () => items.map((item) => acceptedItem(collection, item)))
  })
  // Warnings need no confirmation on a Filter. They are listed.
  const subject = { view: event.view, event: 'Filter', key: [], data: {} } as const
  const { blocking, information } = await decide(scope.findings, subject, noneConfirmed)
  if (blocking.some((entry) => entry.severity === 'error'))
    return reject('Filter', undefined, [...blocking, ...information])
  const rows = items.map((item) => rowOf(event, item))
  return { ...outcomeOf(event, rows, count), validations: [...blocking, ...information] }
}

const noneConfirmed: ReadonlySet<string> = new Set()

function narrowed(
  scope: Scope,
  event: FilterEvent,
  conditions: Condition[],
): BeforeFilter<CollectionShape> {
  const where: BeforeFilter<CollectionShape>['where'] = (given) => {
    conditions.push(...conditionsOf(event.collection, given))
  }
  return { ...scope.context(), where }
}

function rowOf({ collection }: FilterEvent, item: ItemValues): Row {
  const entries = collection.fields
    .filter((field) => field.name in item)
    .map((field) => [field.name, stored(field, item[field.name])])
  return Object.fromEntries(entries) as Row
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
