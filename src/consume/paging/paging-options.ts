import * as z from 'zod/mini'
import { mistaken } from '../../checks/mistakes.ts'
import { suggestion } from '../../checks/nearest-name.ts'
import { code, nonEmpty, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { EndpointResponse } from '../call.ts'
import type { EndpointData } from '../endpoint-options.ts'
import { isInBody } from './input-member.ts'

/** What ends a list besides the rule of its kind of paging. `Response` is the body of a page. */
export interface PagingEnd<Response = never> {
  /**
   * Returns whether a page is the last one. With it, an empty page is not the end of a list that is read by offset or
   * by page. Anything but true and false is a TypeError.
   */
  readonly end?: ((response: EndpointResponse<Response>) => boolean) | undefined
  /**
   * The statuses of a page beyond the end, such as 404: they end the list instead of failing it. For the first page of
   * the list, 204, 404 and 410 mean that it is empty, and other statuses are errors. Default: none.
   */
  readonly endStatuses?: readonly number[] | undefined
}

/**
 * How the next page of a list is requested. `parameter` names a query parameter of the endpoint, or a member of its body
 * by its path: `body/start_cursor`.
 */
export type Paging<Response = never> = PagingEnd<Response> &
  (
    | /** By the number of items so far. */
      { readonly kind: 'offset'; readonly parameter: string }
      /** By the number of the page. `first` is the number of the first page; default 1. */
    | { readonly kind: 'page'; readonly parameter: string; readonly first?: 0 | 1 | undefined }
    /**
     * By a cursor in the response: the names that lead to it, as in `meta/next`, or a function. A cursor in a body may be
     * any JSON value, one in the query is a string or a number.
     */
    | {
        readonly kind: 'cursor'
        readonly parameter: string
        readonly next: string | ((body: Response) => string | number | object | null | undefined)
      }
    /**
     * By a URL in the response: the names that lead to it, as in `@odata.nextLink` or `links/next`, or a function. It may
     * be relative, or be the member `href` of an object.
     */
    | {
        readonly kind: 'url'
        readonly next: string | ((body: Response) => string | null | undefined)
      }
    /** By the link with the relation `next` in the `Link` header. */
    | { readonly kind: 'link' }
  )

// These mean a wrong credential or a busy service, not the end of the list.
const otherStatuses = new Set([401, 403, 408, 425, 429])
const isEndStatus = (status: number): boolean =>
  status === 204 || (status >= 400 && status < 500 && !otherStatuses.has(status))
const advice = `must be 204, or from 400 to 499 and none of ${[...otherStatuses].join(', ')}`

/** The path of a value in a response: `links/next`, or the JSON Pointer `/links/next`. */
export const responsePath = z.pipe(
  z.string(),
  z.transform((path) => (path.startsWith('/') ? path.slice(1) : path)),
)
const path = z.pipe(nonEmpty, responsePath)

const end = {
  end: z.optional(code()),
  endStatuses: z.optional(z.array(z.int().check(z.refine(isEndStatus, { error: advice })))),
}
const shape = z.strictObject({
  paging: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('offset'), parameter: nonEmpty, ...end }),
    z.strictObject({
      kind: z.literal('page'),
      parameter: nonEmpty,
      first: z.optional(z.union([z.literal(0), z.literal(1)])),
      ...end,
    }),
    z.strictObject({
      kind: z.literal('cursor'),
      parameter: nonEmpty,
      next: z.union([path, code()]),
      ...end,
    }),
    z.strictObject({ kind: z.literal('url'), next: z.union([path, code()]), ...end }),
    z.strictObject({ kind: z.literal('link'), ...end }),
  ]),
  items: z._default(z.union([responsePath, code()]), ''),
  total: z.optional(z.union([path, code()])),
  maxPages: z._default(wholeNumber(1), 100),
  signal: z.optional(z.custom<AbortSignal>()),
  timeout: z.optional(z.number()),
  maxResponseBytes: z.optional(z.number()),
  baseUrl: z.optional(z.string()),
  url: z.optional(z.string()),
})

/** The checked options of a list. */
export interface CompletePages<Response, Item> {
  readonly paging: Paging<Response>
  readonly items: string | ((body: Response) => readonly Item[])
  readonly total: string | ((body: Response) => unknown) | undefined
  readonly maxPages: number
}

/** Checks and completes the options of a list. Throws a TypeError that lists every mistake. */
export function completePages<Response, Item>(
  { query, body }: Pick<EndpointData, 'query' | 'body'>,
  given: object,
): CompletePages<Response, Item> {
  const complete = completeOptions('pages', shape, given)
  const { paging } = complete
  if (!('parameter' in paging)) return complete as unknown as CompletePages<Response, Item>
  const names = Object.keys(query)
  const isKnown = isInBody(paging.parameter) ? body !== undefined : names.includes(paging.parameter)
  if (!isKnown) {
    const other = suggestion(paging.parameter, names, 'parameters of the query')
    const advice = isInBody(paging.parameter)
      ? 'is in the body, and the endpoint has none'
      : `is not in the query; ${other}${body === undefined ? '' : `; a member of the body is body/${paging.parameter}`}`
    throw mistaken([{ place: 'pages.paging.parameter', advice }])
  }
  return complete as unknown as CompletePages<Response, Item>
}
