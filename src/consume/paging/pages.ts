import { isPlainObject, requirePlainObject } from '../../checks/plain-object.ts'
import { isDeepStrictEqual } from 'node:util'
import { stringifyJson } from '../../protocol/json-text.ts'
import type { CallOptions, EndpointResponse } from '../call.ts'
import { CallError } from '../call-error.ts'
import type { Endpoint } from '../endpoint.ts'
import { valueAt } from '../json-path.ts'
import { completePages, type CompletePages, type Paging } from './paging-options.ts'
import { isInBody, joinInputs } from './input-member.ts'
import { nextLink } from './link-header.ts'
import { pageEnd, firstPosition, type PageEnd, type ListProgress } from './page-end.ts'

/** The type of the items of a page, where the page itself is an array. */
export type ItemOf<Response> = Response extends readonly (infer Item)[] ? Item : unknown

/** The options of {@link pages}. */
export interface PagesOptions<Response = unknown, Item = unknown> extends Omit<
  CallOptions,
  'idempotencyKey'
> {
  /** How the next page is requested, and what ends the list. */
  readonly paging: Paging<Response>
  /**
   * Where the items of a page are: the names that lead to the array, as in `data/orders`, or a function.
   * Default: the page is the array.
   */
  readonly items?: string | ((body: Response) => readonly Item[]) | undefined
  /**
   * Where the exact number of all items is, if a page has it: the names that lead to it, or a function. Reading ends
   * with the page that has the last of them. Default: none.
   */
  readonly total?: string | ((body: Response) => number | null | undefined) | undefined
  /** The maximum number of pages. More are an error. Default: 100. */
  readonly maxPages?: number | undefined
}

/** A page of a list. */
export interface Page<Response = unknown, Item = unknown> extends EndpointResponse<Response> {
  /** The position of the page, from 0. */
  readonly index: number
  readonly items: readonly Item[]
}

/** What the next call needs: changed members of the input, or a URL. */
interface Step {
  readonly input?: Readonly<Record<string, unknown>>
  readonly url?: string
  /** Identifies the position in the list. */
  readonly position: string
}

/**
 * Returns the pages of a list, one call each. Paging by offset and by page ends with an empty page, which is
 * returned as well, since it may have the total; paging by cursor, by URL and by link ends with a page that has no
 * next one. Both end earlier with `total`, and as `paging.end` and `paging.endStatuses` state. Rejects with a CallError
 * if a page is repeated, if there are more than `maxPages`, and if a link or URL leads to another origin. Throws a TypeError
 * for invalid options.
 */
export function pages<Input extends object, Response, Item = ItemOf<Response>>(
  endpoint: Endpoint<Input, Response>,
  input: Input,
  options: PagesOptions<Response, Item>,
): AsyncGenerator<Page<Response, Item>, void, undefined> {
  requirePlainObject('The input', input, 'pages')
  return new PageReader(endpoint, input, options).read()
}

/** Reads the pages of a list. */
class PageReader<Input extends object, Response, Item> {
  readonly #endpoint: Endpoint<Input, Response>
  readonly #input: Input
  readonly #callOptions: CallOptions
  readonly #complete: CompletePages<Response, Item>
  readonly #ending: PageEnd<Response>

  constructor(
    endpoint: Endpoint<Input, Response>,
    input: Input,
    options: PagesOptions<Response, Item>,
  ) {
    this.#endpoint = endpoint
    this.#input = input
    const { signal, timeout, maxResponseBytes, baseUrl, url } = options
    this.#callOptions = { signal, timeout, maxResponseBytes, baseUrl, url }
    this.#complete = completePages<Response, Item>(endpoint, options)
    this.#ending = pageEnd(this.#complete, input)
  }

  /** Makes the calls. */
  async *read(): AsyncGenerator<Page<Response, Item>, void, undefined> {
    const { url } = this.#callOptions
    const seen = new Set<string>()
    let step: Step | undefined = {
      ...firstStep(this.#complete.paging, this.#input),
      ...(url !== undefined && { url }),
    }
    let last: readonly Item[] = []
    let progress: ListProgress = { pages: 0, received: 0, skipped: 0, largest: 0, isEmpty: false }
    while (step !== undefined) {
      if (progress.pages === this.#complete.maxPages)
        throw this.#fail('TOO_MANY_PAGES', `there are more than ${this.#complete.maxPages} pages`)
      if (seen.has(step.position)) throw this.#fail('PAGE_CYCLE')
      seen.add(step.position)
      const response = await this.#call(step, progress)
      if (response === undefined) return
      const found = this.#itemsOf(response.body)
      // A service that ignores the parameter returns the first page again.
      if (found.length > 0 && isDeepStrictEqual(found, last))
        throw this.#fail('PAGE_CYCLE', `a page was repeated; if that is the end, ${stateEnd}`)
      last = found
      yield { ...response, index: progress.pages, items: found }
      progress = afterPage(progress, found.length)
      step = this.#ending.isLast(response, progress)
        ? undefined
        : this.#nextStep(response, progress)
    }
  }

  /** Returns a page; undefined if its status means that there is none. */
  async #call(step: Step, progress: ListProgress): Promise<EndpointResponse<Response> | undefined> {
    try {
      const response = await this.#endpoint.call(joinInputs(this.#input, step.input) as Input, {
        ...this.#callOptions,
        url: step.url,
      })
      return this.#ending.isBeyond(response.status, progress) ? undefined : response
    } catch (error) {
      this.#ending.requireBeyond(error, progress)
      return undefined
    }
  }

  #itemsOf(body: Response): readonly Item[] {
    const { items } = this.#complete
    const found: unknown = typeof items === 'function' ? items(body) : valueAt(body, items)
    if (Array.isArray(found)) return found as readonly Item[]
    const place = items === '' ? '; state where they are as items' : placeOf(items)
    throw this.#fail('INVALID_RESPONSE', `the items of the page are not an array${place}`)
  }

  #nextStep(
    { body, headers, url: from }: EndpointResponse<Response>,
    { pages: count, received, skipped }: ListProgress,
  ): Step | undefined {
    const { paging } = this.#complete
    switch (paging.kind) {
      case 'offset':
        return numbered(paging.parameter, firstPosition(paging, this.#input) + received + skipped)
      case 'page':
        return numbered(paging.parameter, firstPosition(paging, this.#input) + count)
      case 'cursor': {
        const { next } = paging
        const cursor: unknown = typeof next === 'function' ? next(body) : valueAt(body, next)
        if (isNoPage(cursor)) return undefined
        const isPlain = typeof cursor === 'string' || typeof cursor === 'number'
        if (cursor === true || (!isPlain && !isInBody(paging.parameter)))
          throw this.#fail(
            'INVALID_RESPONSE',
            `the cursor of the next page is not a string${placeOf(next)}`,
          )
        const position = isPlain ? String(cursor) : (stringifyJson(cursor) ?? '')
        return { input: { [paging.parameter]: cursor }, position }
      }
      case 'url': {
        const { next } = paging
        const found: unknown = typeof next === 'function' ? next(body) : valueAt(body, next)
        const url: unknown = isPlainObject(found) ? found['href'] : found
        if (isNoPage(url)) return undefined
        if (typeof url !== 'string')
          throw this.#fail(
            'INVALID_RESPONSE',
            `the URL of the next page is not a string${placeOf(next)}`,
          )
        return linkStep(url, from)
      }
      case 'link': {
        const link = nextLink(headers.get('link'))
        return link === undefined ? undefined : linkStep(link, from)
      }
    }
  }

  #fail(code: 'PAGE_CYCLE' | 'TOO_MANY_PAGES' | 'INVALID_RESPONSE', detail?: string): CallError {
    return new CallError(code, this.#endpoint.name, { detail })
  }
}

/** Returns whether a cursor or URL says that there is no next page. Some services send false. */
function isNoPage(value: unknown): boolean {
  return value === null || value === undefined || value === '' || value === false
}

/** Returns where a value of the response was looked for, for a message. */
function placeOf(path: unknown): string {
  return typeof path === 'string' ? ` at /${path}` : ''
}

const stateEnd = 'state where the total is, or paging.end'

function afterPage(
  { pages: count, received, skipped, largest }: ListProgress,
  size: number,
): ListProgress {
  const isEmpty = size === 0
  return {
    pages: count + 1,
    received: received + size,
    // By offset, the position of the page after an empty one is known from the size of the others only.
    skipped: isEmpty ? skipped + largest : skipped,
    largest: Math.max(largest, size),
    isEmpty,
  }
}

/** Returns the step to a link, which may be relative to the URL that responded. */
function linkStep(link: string, from: string | undefined): Step {
  const url = from !== undefined && URL.canParse(link, from) ? new URL(link, from).href : link
  return { url, position: url }
}

function firstStep(paging: Paging, input: object): Step {
  if (paging.kind !== 'offset' && paging.kind !== 'page') return { position: '' }
  return numbered(paging.parameter, firstPosition(paging, input))
}

function numbered(parameter: string, value: number): Step {
  return { input: { [parameter]: value }, position: String(value) }
}
