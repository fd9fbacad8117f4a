import * as z from 'zod/mini'
import type { Mistake } from '../../checks/mistakes.ts'

const pattern = /^[\w!#$%&'*+.^`|~-]+$/
// Headers of the body, which endpoints state, and hop-by-hop headers.
const setForEachRequest = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The schema of an option that names a header. */
export const headerName = z.string().check(z.regex(pattern, 'must be a header name'))

/** A header that options name, and the place of that option. */
export interface NamedHeader {
  readonly place: string
  readonly name: string
  /** The advice for a later option that names the same header. Default: that this option names it too. */
  readonly taken?: string
}

/** Returns whether text can be the name of a header. */
export function isHeaderName(text: string): boolean {
  return pattern.test(text)
}

/** Returns whether text is the name of a header that options can't replace: it is set for each request. */
export function isSetForEachRequest(name: string): boolean {
  return setForEachRequest.has(name.toLowerCase())
}

/**
 * Returns the mistakes of the headers that options name: an invalid name, a header that is set for each request, and a
 * header that an earlier option also sends, in any case. Only one of their values would be sent.
 */
export function headerMistakes(headers: readonly NamedHeader[]): readonly Mistake[] {
  const first = new Map<string, string>()
  return headers.flatMap(({ place, name, taken }) => {
    if (!pattern.test(name)) return [{ place, advice: 'is not a valid header name' }]
    if (isSetForEachRequest(name))
      return [{ place, advice: 'is a header that is set for each request: leave it out' }]
    const advice = first.get(name.toLowerCase())
    if (advice !== undefined) return [{ place, advice }]
    const ofBoth = `is also the header of ${place}: leave one of them out`
    first.set(name.toLowerCase(), taken ?? ofBoth)
    return []
  })
}
