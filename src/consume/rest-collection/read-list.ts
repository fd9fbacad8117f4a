import type { CollectionShape, Item } from '../../definition/item.ts'
import type { FilterCall, ServedPage } from '../../definition/serve.ts'
import { searchText } from '../../request/query.ts'
import { CallError, isCallError } from '../call-error.ts'
import { valueAt } from '../json-path.ts'
import { joinInputs } from '../paging/input-member.ts'
import { pages } from '../paging/pages.ts'
import type { Paging } from '../paging/paging-options.ts'
import type { CompleteList, Mapping } from './complete-options.ts'
import { isMissing, readError } from './failure.ts'
import { itemFrom, type MappedItem } from './item-mapping.ts'
import type { InputMembers } from './options.ts'
import { planList, tooManyRows, type ListPlan } from './plan-list.ts'

type Call = FilterCall<CollectionShape>
type Items = readonly Item<CollectionShape>[]

/**
 * Reads the items of a Filter: a page if the other service can make it, else a list that contains at least
 * the items that the page is made of. Throws MALFORMED_QUERY if that would need more than the mapping allows.
 */
export async function readList(
  mapping: Mapping,
  list: CompleteList,
  call: Call,
): Promise<Items | ServedPage<Item<CollectionShape>>> {
  const plan = planList(mapping, list, call)
  try {
    return plan.isPassedOn
      ? await readPage(mapping, list, { call, plan })
      : await readAll(mapping, list, { call, plan })
  } catch (error) {
    if (isCallError(error) && error.code === 'TOO_MANY_PAGES')
      throw tooManyRows(mapping, list, call)
    throw readError(error)
  }
}

interface Work {
  readonly call: Call
  readonly plan: ListPlan
}

async function readPage(
  mapping: Mapping,
  list: CompleteList,
  { call, plan }: Work,
): Promise<ServedPage<Item<CollectionShape>>> {
  const { offset, limit, count } = call
  const found: MappedItem[] = []
  let total: number | undefined
  let all: number | undefined
  if (limit !== 0) {
    const end = offset + (limit ?? Infinity)
    const start = startAt(list, offset, end - offset)
    const bound = start.position + list.complete.rows + (limit ?? 0)
    let position = start.position
    let mustEnd = false
    for await (const { items, body } of pagesFrom(list, call, [plan.input, start.input])) {
      if (mustEnd && items.length > 0) throw shortPages(list)
      if (count) total ??= totalIn(list, body)
      all = total ?? knownTotal(list, body)
      for (const source of items) {
        if (position >= offset && position < end) found.push(read(mapping, list, call, source))
        position++
      }
      // A page that was skipped would have been short as well, unless this one is the last.
      const isShort = start.isSkipping && items.length < (start.size ?? 0)
      mustEnd = isShort && position !== all
      if (!mustEnd && (position >= end || position === all || position >= (total ?? Infinity)))
        break
      if (position > bound) throw tooManyRows(mapping, list, call)
    }
  }
  if (!count) return { page: found }
  return { page: found, count: total ?? (await countOf(list, call, plan)) }
}

/** Reads the number of all items where the page itself has no response with it. */
async function countOf(list: CompleteList, call: Call, { input }: ListPlan): Promise<number> {
  const start = startAt(list, 0, 1)
  for await (const { body } of pagesFrom(list, call, [input, start.input]))
    return totalIn(list, body)
  return 0
}

async function readAll(mapping: Mapping, list: CompleteList, { call, plan }: Work): Promise<Items> {
  const { offset, limit, count } = call
  const { rows } = list.complete
  const end = plan.isOrdered && !count && limit !== undefined ? offset + limit : Infinity
  const found = new Map<string | number, MappedItem>()
  let matching = 0
  let position = 0
  const { input } = startAt(list, 0, Infinity)
  for await (const { items } of pagesFrom(list, call, [plan.input, input])) {
    for (const source of items) {
      position++
      if (position > rows) throw tooManyRows(mapping, list, call)
      const item = read(mapping, list, call, source)
      // Pages shift when the other service inserts an item between two calls.
      const id =
        mapping.key.length === 0 ? position : JSON.stringify(mapping.key.map((name) => item[name]))
      if (found.has(id)) continue
      found.set(id, item)
      if (end < Infinity && matches(item, call)) matching++
    }
    if (matching >= end) break
  }
  return [...found.values()] as Items
}

interface Start {
  readonly input: InputMembers
  /** The position of the first item that is read. */
  readonly position: number
  /** The number of items that a page is requested to have. */
  readonly size: number | undefined
  /** Whether the position was computed from the size of pages before it. */
  readonly isSkipping: boolean
}

/** Returns where reading begins: at the page of the offset, if the other service can begin there. */
function startAt({ paging, pageSize }: CompleteList, offset: number, wanted: number): Start {
  const maximum = pageSize?.maximum
  const isNumbered = paging?.kind === 'page'
  const isAligned = offset % wanted === 0
  const size =
    maximum === undefined || (isNumbered && !isAligned) ? maximum : Math.min(maximum, wanted)
  const sized = pageSize === undefined ? {} : { [pageSize.parameter]: size }
  const first = { input: sized, position: 0, size, isSkipping: false }
  if (offset === 0) return first
  if (paging?.kind === 'offset')
    return { ...first, input: { ...sized, [paging.parameter]: offset }, position: offset }
  if (!isNumbered || size === undefined) return first
  const number = Math.floor(offset / size)
  const input = { ...sized, [paging.parameter]: (paging.first ?? 1) + number }
  return { input, position: number * size, size, isSkipping: number > 0 }
}

interface ReadPage {
  readonly items: readonly unknown[]
  readonly body: unknown
}

async function* pagesFrom(
  list: CompleteList,
  call: Call,
  inputs: readonly InputMembers[],
): AsyncGenerator<ReadPage, void, undefined> {
  // A search without conditions has an empty body.
  const body = list.endpoint.body === undefined ? undefined : { body: {} }
  const input = joinInputs(body, ...inputs)
  let isFirst = true
  try {
    for await (const page of calledPages(list, call, input)) {
      isFirst = false
      yield page
    }
  } catch (error) {
    const dependsOnCondition = Object.keys(list.endpoint.parameters).length > 0
    // The path depends on a condition that no item meets. A later page that is missing is a failure.
    if (!isFirst || !dependsOnCondition || !isMissing(error)) throw error
  }
}

async function* calledPages(
  { endpoint, paging, items, total, complete }: CompleteList,
  { signal }: Call,
  input: InputMembers,
): AsyncGenerator<ReadPage, void, undefined> {
  if (paging !== undefined) {
    yield* pages(endpoint, input, {
      paging: paging as Paging<unknown>,
      items,
      total: total?.path,
      maxPages: complete.pages,
      signal,
    })
    return
  }
  const { body } = await endpoint.call(input, { signal })
  const found = valueAt(body, items)
  if (Array.isArray(found)) yield { items: found, body }
  else
    throw new CallError('INVALID_RESPONSE', endpoint.name, { detail: 'the items are not an array' })
}

function read(
  mapping: Mapping,
  { endpoint }: CompleteList,
  { fields }: Call,
  source: unknown,
): MappedItem {
  return itemFrom(mapping, endpoint, source, fields)
}

function shortPages({ endpoint }: CompleteList): CallError {
  const detail = 'its pages have fewer items than requested, so the maximum of pageSize is wrong'
  return new CallError('INVALID_RESPONSE', endpoint.name, { detail })
}

function totalIn({ endpoint, total }: CompleteList, body: unknown): number {
  const found = valueAt(body, total?.path ?? '')
  if (Number.isSafeInteger(found) && (found as number) >= 0) return found as number
  throw new CallError('INVALID_RESPONSE', endpoint.name, {
    detail: 'the total is not an integer',
  })
}

/** Returns the total of a response that was not requested to have it; undefined if it has none. */
function knownTotal({ total }: CompleteList, body: unknown): number | undefined {
  const found = total && valueAt(body, total.path)
  return typeof found === 'number' ? found : undefined
}

// Never true for an item that rowgate would leave out: then reading would end too early.
function matches(item: MappedItem, { conditions, where, search }: Call): boolean {
  if (where !== undefined) return false
  const meets = Object.entries(conditions).every(([name, value]) =>
    value === null ? item[name] === null || item[name] === '' : item[name] === value,
  )
  if (!meets || search === undefined) return meets
  return search.fields.some((name) => {
    const value = item[name] ?? null
    return (
      value !== null && typeof value !== 'object' && searchText(String(value)).includes(search.text)
    )
  })
}
