import { ServiceError } from '../errors.ts'
import { listElements } from './entity-tags.ts'

const maxIds = 100

/**
 * Decodes the header with the ids of confirmed warnings: double-quoted ids, separated by commas, with
 * optional white space and empty elements. Throws MALFORMED_HEADER for any other form and for more than
 * 100 ids.
 */
export function decodeIgnoredWarnings(value: string | undefined): ReadonlySet<string> {
  const ids = new Set<string>()
  if (value === undefined) return ids
  let listed = 0
  for (const element of listElements(value)) {
    if (element === '') continue
    if (!/^"[^"]*"$/.test(element))
      throw malformed('put each id in double quotes and separate ids with commas')
    if (++listed > maxIds) throw malformed(`it can list at most ${maxIds} ids`)
    ids.add(element.slice(1, -1))
  }
  return ids
}

/** Encodes the value of the header. */
export function encodeIgnoredWarnings(ids: Iterable<string>): string {
  return Array.from(ids, (id) => `"${id}"`).join(', ')
}

function malformed(rule: string): ServiceError {
  return new ServiceError(
    'MALFORMED_HEADER',
    `The header that lists the warnings to ignore is malformed: ${rule}.`,
  )
}
