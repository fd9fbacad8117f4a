import type { Principal } from '../../definition/principal.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { FilterEvent } from '../../request/event.ts'
import type { PageNotes, PageOutcome } from '../../request/outcome.ts'
import {
  cursorAfter,
  requireOwnCursor,
  type CursorPlan,
  type Paging,
} from '../../request/paging.ts'
import { shownCount, type Row, type StorageQuery } from '../../request/query.ts'
import type { ReadContext, StorageAdapter, StoragePage } from '../../storage/adapter.ts'

/** The caller for whom a page is read, and the form of its items. */
export interface PagedRead {
  readonly caller: Principal
  readonly form: 'text' | 'rows'
  readonly context: ReadContext
}

/** Items as storage returns them: rows, or JSON text. */
interface Found<Item> {
  /** The items of the page, and one more if there is a next page. */
  readonly items: readonly Item[]
  readonly count: number | null
}

/** Where the pages of a Filter are read: in storage, a transaction, or the functions that serve a collection. */
export type FilterSource = (query: StorageQuery) => MaybePromise<StoragePage>

type Read<Item> = (query: StorageQuery) => MaybePromise<Found<Item> | undefined>

/** Runs a Filter that is one or more reads of storage, of a collection with cursors or estimated counts. */
export async function filterPaged(
  adapter: StorageAdapter,
  event: FilterEvent,
  paging: Paging,
  reading: PagedRead,
): Promise<PageOutcome> {
  const { collection, query } = event
  const { select, limit } = query
  const { cursor } = paging
  if (cursor !== undefined) await requireOwnCursor(cursor, reading.caller)
  const isEstimated = query.count && mayEstimate(adapter, event, paging)
  const own = isEstimated ? { ...query, count: false } : query
  const found = await readStorage(adapter, { ...event, query: own }, cursor, reading)
  const items = found.items.slice(0, limit)
  const next = await nextOf(found, query, cursor, reading.caller)
  const counted = isEstimated
    ? await countByEstimate(adapter, event, cursor, found.items.length)
    : { count: found.count, isEstimated }
  // Page and count must be read from one snapshot.
  if (counted === undefined) {
    return filterPaged(adapter, event, { cursor, estimates: false }, reading)
  }
  return {
    type: 'page',
    collection,
    select,
    page: areTexts(items) ? { items } : { rows: items as readonly Row[] },
    count: counted.count,
    validations: [],
    notes: { next, isEstimated: counted.isEstimated },
  }
}

/** Runs a Filter of a collection with cursors within a transaction. */
export async function filterByCursor(
  read: FilterSource,
  { collection, query }: FilterEvent,
  cursor: CursorPlan,
  caller: Principal,
): Promise<PageOutcome> {
  const { rows, ...rest } = await readRows(read, query, cursor, caller)
  const { select } = query
  return { type: 'page', collection, select, page: { rows }, validations: [], ...rest }
}

/**
 * Reads the rows of a page with a cursor. `read` must read from one snapshot, such as a transaction, if the page needs
 * several reads.
 */
export async function readRows(
  read: FilterSource,
  query: StorageQuery,
  cursor: CursorPlan,
  caller: Principal,
): Promise<StoragePage & { readonly notes: PageNotes }> {
  await requireOwnCursor(cursor, caller)
  const found = await readAll(read, query, cursor)
  const next = await nextOf(found, query, cursor, caller)
  const rows = found.items.slice(0, query.limit)
  return { rows, count: found.count, notes: { next, isEstimated: false } }
}

/** Reads what a page needs. */
async function readStorage(
  adapter: StorageAdapter,
  event: FilterEvent,
  cursor: CursorPlan | undefined,
  reading: PagedRead,
): Promise<Found<Row | string>> {
  const { collection, query } = event
  const isCountedApart = query.count && cursor?.given !== undefined
  if (!isCountedApart) {
    // Most pages lie in the first range.
    const [first = []] = cursor?.ranges ?? []
    const found = await readOnce(adapter, event, cursor && { ...cursor, ranges: [first] }, reading)
    if (cursor === undefined || cursor.ranges.length === 1) return found
    if (found.items.length >= wantedOf(query, cursor)) return found
  }
  // Several reads need one snapshot.
  const { deadline } = reading.context
  return adapter.transaction({ mode: 'read', brief: true, deadline }, (on) =>
    readAll((part) => on.filter(collection, part), query, cursor),
  )
}

/** Reads a page that is one read, as JSON text if possible. */
async function readOnce(
  adapter: StorageAdapter,
  { collection, query, output }: FilterEvent,
  cursor: CursorPlan | undefined,
  { form, context }: PagedRead,
): Promise<Found<Row | string>> {
  if (form === 'text' && output === undefined && showsPosition(query, cursor)) {
    const read: Read<string> = (part) => adapter.filterText?.(collection, part, context)
    const found = await readRanges(read, query, cursor)
    if (found !== undefined) return found
  }
  return readAll((part) => adapter.filter(collection, part, context), query, cursor)
}

/** Reads the rows of a page with the fields of its position, and the count of a page that continues one. */
async function readAll(
  read: FilterSource,
  query: StorageQuery,
  cursor: CursorPlan | undefined,
): Promise<Found<Row>> {
  const names = cursor?.fields.map(({ field }) => field.name) ?? []
  const select = [...new Set([...query.select, ...names])]
  const rows: Read<Row> = async (part) => {
    const page = await read(part)
    return { items: page.rows, count: page.count }
  }
  if (!query.count || cursor?.given === undefined) {
    return (await readRanges(rows, { ...query, select }, cursor)) as Found<Row>
  }
  const found = await readRanges(rows, { ...query, select, count: false }, cursor)
  const { count } = await read({ ...query, limit: 0 })
  return { items: found?.items ?? [], count }
}

/** Reads one range after the other until the page is full. */
async function readRanges<Item>(
  read: Read<Item>,
  query: StorageQuery,
  cursor: CursorPlan | undefined,
): Promise<Found<Item> | undefined> {
  const { conditions } = query
  const wanted = wantedOf(query, cursor)
  const items: Item[] = []
  let count: number | null = null
  for (const range of cursor?.ranges ?? [[]]) {
    const own = range.length === 0 ? conditions : [...conditions, ...range]
    const part = await read({ ...query, conditions: own, limit: wanted - items.length })
    if (part === undefined) return undefined
    items.push(...part.items)
    count = part.count
    if (items.length >= wanted) break
  }
  return { items, count }
}

/** Returns the number of items to read: an item after the page shows that there is a next page. */
function wantedOf({ limit }: StorageQuery, cursor: CursorPlan | undefined): number {
  return cursor !== undefined && limit > 0 && limit < Number.MAX_SAFE_INTEGER ? limit + 1 : limit
}

function showsPosition({ select }: StorageQuery, cursor: CursorPlan | undefined): boolean {
  return cursor === undefined || cursor.fields.every(({ field }) => select.includes(field.name))
}

function areTexts(items: readonly (Row | string)[]): items is readonly string[] {
  return typeof items[0] === 'string'
}

/** Returns the cursor of the next page; undefined if there is none. */
async function nextOf(
  { items }: Found<Row | string>,
  { limit }: StorageQuery,
  cursor: CursorPlan | undefined,
  caller: Principal,
): Promise<string | undefined> {
  if (cursor === undefined || limit === 0 || items.length <= limit) return undefined
  const last = items[limit - 1] as Row | string
  // The values of fields with an order are the same in JSON.
  return cursorAfter(cursor, caller, typeof last === 'string' ? (JSON.parse(last) as Row) : last)
}

// An estimate counts all rows, also those that a row rule excludes. The results of a search can't be estimated, nor the
// parts of strings, nor what refers to other rows.
function mayEstimate(
  { estimateCount }: StorageAdapter,
  { view, query }: FilterEvent,
  { estimates }: Paging,
): boolean {
  if (!estimates || estimateCount === undefined || view.rows.length > 0) return false
  return (
    query.search === null &&
    !query.conditions.some(({ is }) => is === 'contains' || is === 'through')
  )
}

/** Returns the count that the items of a page show, or an estimate; undefined if storage has none. */
async function countByEstimate(
  adapter: StorageAdapter,
  { collection, query }: FilterEvent,
  cursor: CursorPlan | undefined,
  found: number,
): Promise<{ readonly count: number; readonly isEstimated: boolean } | undefined> {
  const { limit, offset, conditions } = query
  if (cursor?.given === undefined) {
    const count = shownCount({ limit: wantedOf(query, cursor), offset }, found)
    if (count !== undefined) return { count, isEstimated: false }
  }
  const estimate = await adapter.estimateCount?.(collection, conditions)
  if (estimate === undefined) return undefined
  // The count is at least the items of the page, and at most the items before an empty page.
  const least = found === 0 ? 0 : offset + found
  const most = found === 0 && offset > 0 && limit > 0 ? offset : Number.MAX_SAFE_INTEGER
  return { count: Math.min(Math.max(estimate, least), most), isEstimated: true }
}
