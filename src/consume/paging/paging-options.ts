import * as z from 'zod/mini'
import { mistaken } from '../../checks/mistakes.ts'
import { suggestion } from '../../checks/nearest-name.ts'
import { code, nonEmpty, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Parameters } from '../parameters.ts'

/** How the next page of a list is requested. `parameter` names a query parameter of the endpoint. */
export type Paging<Response = never> =
  /** By the number of items so far. */
  | { readonly kind: 'offset'; readonly parameter: string }
  /** By the number of the page. `first` is the number of the first page; default 1. */
  | { readonly kind: 'page'; readonly parameter: string; readonly first?: 0 | 1 | undefined }
  /** By a cursor in the response: the names that lead to it, as in `meta/next`, or a function. */
  | {
      readonly kind: 'cursor'
      readonly parameter: string
      readonly next: string | ((body: Response) => string | number | null | undefined)
    }
  /** By the link with the relation `next` in the `Link` header. */
  | { readonly kind: 'link' }

const shape = z.strictObject({
  paging: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('offset'), parameter: nonEmpty }),
    z.strictObject({
      kind: z.literal('page'),
      parameter: nonEmpty,
      first: z.optional(z.union([z.literal(0), z.literal(1)])),
    }),
    z.strictObject({
      kind: z.literal('cursor'),
      parameter: nonEmpty,
      next: z.union([nonEmpty, code()]),
    }),
    z.strictObject({ kind: z.literal('link') }),
  ]),
  items: z._default(z.union([z.string(), code()]), ''),
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
  readonly maxPages: number
}

/** Checks and completes the options of a list. Throws a TypeError that lists every mistake. */
export function completePages<Response, Item>(
  query: Parameters,
  given: object,
): CompletePages<Response, Item> {
  const complete = completeOptions('pages', shape, given)
  const { paging } = complete
  const names = Object.keys(query)
  if (paging.kind !== 'link' && !names.includes(paging.parameter)) {
    const advice = `is not in the query; ${suggestion(paging.parameter, names, 'parameters of the query')}`
    throw mistaken([{ place: 'pages.paging.parameter', advice }])
  }
  return complete as unknown as CompletePages<Response, Item>
}
