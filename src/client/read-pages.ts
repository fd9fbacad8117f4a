import type { ItemPage } from '../definition/handler.ts'
import type { Item, CollectionShape } from '../definition/item.ts'
import type { PageOptions } from './calls.ts'
import type { IncomingResponse, Send } from './send.ts'
import { pageQuery, type PageParameters } from './target.ts'

type Page = ItemPage<Item<CollectionShape>>

/** What is read: a collection, the items that meet conditions, and how. */
export interface ReadRequest {
  readonly target: string
  readonly conditions: object | undefined
  readonly options: PageOptions | undefined
  /** The number of items to request at a time. */
  readonly pageSize: number
}

// Of a position that is too long for a cursor.
const tooLong = 'too-long'

/**
 * Reads all items that `limit` and `offset` select, page by page. A page may have fewer items than requested
 * although others follow, since every collection has a maximum of its own. So without a cursor or a count, only
 * a page that is shorter than one before, or empty, is the last one.
 */
export async function* readPages(send: Send, request: ReadRequest): AsyncGenerator<Page> {
  const { target, conditions = {}, options = {} } = request
  const { limit = Infinity, offset = 0, after, count, sort, q, signal } = options
  const fields = options.fields?.join(',') ?? '*'
  let position: PageParameters =
    after === undefined ? { offset } : { offset: options.offset, after }
  let [size, read, hasCursors] = [request.pageSize, 0, after !== undefined]
  for (let isFirst = true; ; isFirst = false) {
    const wanted = Math.min(size, limit - read)
    const parameters = {
      limit: wanted,
      ...position,
      sort: sort?.join(','),
      fields,
      q,
      count: isFirst && count === true ? true : undefined,
    }
    const query = pageQuery(conditions, parameters)
    const response = await send({ method: 'GET', target: `${target}${query}`, signal })
    const page = pageOf(response)
    yield page
    const { length } = page.items
    read += length
    if (length === 0 || read >= limit) return
    if (page.next === undefined) {
      if (hasCursors || (isFirst ? isWhole(page, response, offset) : length < wanted)) return
      if (isFirst) size = length
    } else hasCursors = true
    position =
      page.next === undefined || (page.next === tooLong && after === undefined)
        ? { offset: offset + read }
        : { after: page.next }
  }
}

function pageOf({ envelope, header }: IncomingResponse): Page {
  const { items = [], count = null, validations } = envelope
  const next = header('Next-Cursor')
  return { items: items as Page['items'], count, validations, ...(next !== null && { next }) }
}

/** Returns whether the count of the first page shows that there are no others. */
function isWhole({ items, count }: Page, { header }: IncomingResponse, offset: number): boolean {
  // A browser hides headers of other origins, so a count whose headers are hidden may be an estimate.
  const isExact = header('Version') !== null && header('Estimated-Count') === null
  return isExact && count !== null && offset + items.length >= count
}
