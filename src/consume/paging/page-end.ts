import type { EndpointResponse } from '../call.ts'
import { CallError, isCallError } from '../call-error.ts'
import { valueAt } from '../json-path.ts'
import { inputMember } from './input-member.ts'
import type { CompletePages, Paging } from './paging-options.ts'

/** How far a list has been read. */
export interface ListProgress {
  /** The number of pages so far. */
  readonly pages: number
  /** The number of items so far. */
  readonly received: number
  /** The number of positions that empty pages stand for. */
  readonly skipped: number
  /** The number of items of the largest page so far. */
  readonly largest: number
  /** Whether the last page had no items. */
  readonly isEmpty: boolean
}

/** Decides where a list ends. */
export interface PageEnd<Response> {
  /** Returns whether a page is the last one. Throws a TypeError if `paging.end` returns anything but a boolean. */
  isLast(response: EndpointResponse<Response>, progress: ListProgress): boolean
  /** Returns whether a status means that there is no page at this position. */
  isBeyond(status: number | null, progress: ListProgress): boolean
  /** Throws an error, unless its status means that there is no page at this position. */
  requireBeyond(error: unknown, progress: ListProgress): void
}

/** Returns what decides where a list ends that is read from the position in the input. */
export function pageEnd<Response>(
  { paging, total }: Pick<CompletePages<Response, unknown>, 'paging' | 'total'>,
  input: object,
): PageEnd<Response> {
  const { end, endStatuses = [] } = paging
  const isNumbered = paging.kind === 'offset' || paging.kind === 'page'
  const first = paging.kind === 'page' ? (paging.first ?? 1) : 0
  const start = isNumbered ? firstPosition(paging, input) - first : 0

  function isLast(response: EndpointResponse<Response>, progress: ListProgress): boolean {
    if (end !== undefined && isEnd(end, response)) return true
    const { received, largest, isEmpty } = progress
    const before = paging.kind === 'page' ? start * largest : start
    const all = totalOf(response.body)
    // A total below the number of received items is ignored, such as a 0 that stands for an unknown total.
    if (all !== undefined && before + received === all) return true
    if (!isEmpty || !isNumbered || end !== undefined) return false
    // An empty page is not the end while positions remain below the total.
    return all === undefined || largest === 0 || positionAfter(progress) >= all
  }

  function positionAfter({ pages, received, skipped, largest }: ListProgress): number {
    return paging.kind === 'page' ? (start + pages) * largest : start + received + skipped
  }

  function totalOf(body: Response): number | undefined {
    if (total === undefined) return undefined
    const found: unknown = typeof total === 'function' ? total(body) : valueAt(body, total)
    return Number.isSafeInteger(found) ? (found as number) : undefined
  }

  function isBeyond(status: number | null, progress: ListProgress): boolean {
    if (status === null || !endStatuses.includes(status)) return false
    // A request that is wrong fails with its first page.
    const isFirst = progress.pages === 0 && start === 0
    return !isFirst || [204, 404, 410].includes(status)
  }

  function requireBeyond(error: unknown, progress: ListProgress): void {
    if (!isCallError(error) || error.code !== 'STATUS') throw error
    const { endpoint, status, retryAfter, response, excerpt } = error
    if (isBeyond(status, progress)) return
    if (progress.pages === 0 || !mayBeEnd.has(status ?? 0) || response === null) throw error
    const detail = `it responded ${status} after ${progress.pages} pages; if that is the end, add the status to paging.endStatuses`
    throw new CallError('STATUS', endpoint, {
      status: response.status,
      retryAfter: retryAfter ?? undefined,
      detail,
      response,
      excerpt: excerpt ?? undefined,
      cause: error,
    })
  }

  return { isLast, isBeyond, requireBeyond }
}

const mayBeEnd = new Set([400, 404, 410, 416, 422])

/** Returns the first offset or page, which the input may contain. */
export function firstPosition(paging: Paging & { kind: 'offset' | 'page' }, input: object): number {
  const given = inputMember(input, paging.parameter)
  if (typeof given === 'number') return given
  return paging.kind === 'page' ? (paging.first ?? 1) : 0
}

function isEnd<Response>(
  end: (response: EndpointResponse<Response>) => boolean,
  response: EndpointResponse<Response>,
): boolean {
  // A promise would end each list after its first page.
  const result: unknown = end(response)
  if (typeof result === 'boolean') return result
  throw new TypeError('The result of paging.end must be true or false.')
}
