import { requirePlainObject } from '../checks/plain-object.ts'
import type { ItemPage } from '../definition/handler.ts'
import type { Item, CollectionShape } from '../definition/item.ts'
import type { PageOptions } from './calls.ts'
import { RequestError } from './request-error.ts'
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
  readonly maxPages: number
}

// Of a position that is too long for a cursor.
const tooLong = 'too-long'

/**
 * Reads all items that `limit` and `offset` select, page by page. A page may have fewer items than requested
 * although others follow, since every collection has a maximum of its own. So without a cursor or a count, only
 * a page that is shorter than one before, or empty, is the last one. Rejects with a RequestError if there are more
 * pages than allowed, or if a cursor is repeated.
 */
export async function* readPages(send: Send, request: ReadRequest): AsyncGenerator<Page> {
  const { target, conditions = {}, options = {}, maxPages } = request
  requirePlainObject('The options', options, 'the client')
  const { limit = Infinity, offset = 0, after, count, sort, expand, q, signal } = options
  // An empty list of names means the same as none: here all fields, elsewhere no parameter.
  const fields = options.fields?.length ? options.fields.join() : '*'
  let position: PageParameters =
    after === undefined ? { offset } : { offset: options.offset, after }
  let [size, read, hasCursors] = [request.pageSize, 0, after !== undefined]
  const requireNew = cursorCheck(after)
  for (let pages = 1; ; pages++) {
    const isFirst = pages === 1
    const wanted = Math.min(size, limit - read)
    const parameters = {
      limit: wanted,
      ...position,
      sort: sort?.join(),
      fields,
      expand: expand?.join(),
      q,
      count: isFirst && count === true ? true : undefined,
    }
    const query = pageQuery(conditions, parameters)
    if (query === undefined) {
      yield { items: [], count: count === true ? 0 : null, validations: [] }
      return
    }
    const response = await send({ method: 'GET', target: `${target}${query}`, signal })
    const page = pageOf(response, wanted)
    yield page
    const { length } = page.items
    read += length
    if (length === 0 || read >= limit) return
    if (page.next === undefined) {
      if (hasCursors || (isFirst ? isWhole(page, response, offset) : length < wanted)) return
      if (isFirst) size = length
    } else hasCursors = true
    if (pages === maxPages) throw tooManyPages(maxPages)
    if (page.next !== tooLong) requireNew(page.next)
    position =
      page.next === undefined || (page.next === tooLong && after === undefined)
        ? { offset: offset + read }
        : { after: page.next }
  }
}

/** Returns a function that throws for a cursor that was repeated. It keeps one: the latest of a power of two. */
function cursorCheck(first: string | undefined): (cursor: string | undefined) => void {
  let [kept, count, next] = [first, 0, 1]
  return (cursor) => {
    if (cursor === undefined) return
    if (cursor === kept)
      throw new RequestError('PAGE_CYCLE', 'The service has repeated a cursor.', { status: 200 })
    if (++count < next) return
    kept = cursor
    next *= 2
  }
}

/** Returns the error of a list that does not end. */
export function tooManyPages(maxPages: number): RequestError {
  const text = `There are more than ${maxPages} pages. Request less, or raise pageSize or maxPages.`
  return new RequestError('TOO_MANY_PAGES', text)
}

function pageOf({ envelope, header }: IncomingResponse, wanted: number): Page {
  const { items = [], count = null, validations } = envelope
  if (items.length > wanted || (count !== null && typeof count !== 'number'))
    throw new RequestError('INVALID_RESPONSE', 'The response is not the requested page.', {
      status: 200,
    })
  const next = header('Next-Cursor')
  return { items: items as Page['items'], count, validations, ...(next !== null && { next }) }
}

/** Returns whether the count of the first page shows that there are no others. */
function isWhole({ items, count }: Page, { header }: IncomingResponse, offset: number): boolean {
  // A browser hides headers of other origins, so a count whose headers are hidden may be an estimate.
  const isExact = header('Version') !== null && header('Estimated-Count') === null
  return isExact && count !== null && offset + items.length >= count
}
