import { ServiceError } from '../errors.ts'

/** The most ids that one header may list. */
const maximumIds = 100

/**
 * Reads the value of the ignore-warnings header: double-quoted ids, separated by commas, with
 * optional white space and empty elements (section 4.1, D17). Throws MALFORMED_HEADER for anything
 * else and for more than 100 ids.
 */
export function decodeIgnoredWarnings(value: string | undefined): ReadonlySet<string> {
  const ids = new Set<string>()
  if (value === undefined) return ids
  let listed = 0
  for (const element of elements(value)) {
    if (element === '') continue
    if (!/^"[^"]*"$/.test(element))
      throw malformed('each id stands in double quotes, separated by commas')
    if (++listed > maximumIds) throw malformed(`at most ${maximumIds} ids may be listed`)
    ids.add(element.slice(1, -1))
  }
  return ids
}

/** Writes the header's value. */
export function encodeIgnoredWarnings(ids: Iterable<string>): string {
  return Array.from(ids, (id) => `"${id}"`).join(', ')
}

function* elements(value: string): Iterable<string> {
  let start = 0
  let quoted = false
  for (let index = 0; index <= value.length; index++) {
    const character = value[index]
    if (character === '"') quoted = !quoted
    if (index < value.length && (character !== ',' || quoted)) continue
    yield value.slice(start, index).replace(/^[ \t]+|[ \t]+$/g, '')
    start = index + 1
  }
}

function malformed(rule: string): ServiceError {
  return new ServiceError(
    'MALFORMED_HEADER',
    `The header with the warnings to ignore is malformed: ${rule}.`,
  )
}
