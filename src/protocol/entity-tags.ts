import { ServiceError } from '../errors.ts'
import { trimBlanks } from './blanks.ts'

const maxTags = 100
const strongTag = /^"[\x21\x23-\x7e\x80-\xff]*"$/
const weakTag = /^W\/"[\x21\x23-\x7e\x80-\xff]*"$/

/**
 * Decodes `If-Match`: `*`, or the text of each entity tag without its quotes. The header is a list with commas, optional
 * white space and empty elements. Throws MALFORMED_HEADER for any other form, for a list without tags or with more than 100,
 * and for weak tags, which can't state a version.
 */
export function decodeIfMatch(value: string): '*' | ReadonlySet<string> {
  if (trimBlanks(value) === '*') return '*'
  const tags = new Set<string>()
  let listed = 0
  for (const element of listElements(value)) {
    if (element === '') continue
    if (weakTag.test(element))
      throw malformed('send the tag as the ETag header had it, without W/ in front of it')
    if (!strongTag.test(element))
      throw malformed('send * alone, or tags in double quotes, separated by commas')
    if (++listed > maxTags) throw malformed(`it can list at most ${maxTags} tags`)
    tags.add(element.slice(1, -1))
  }
  if (listed === 0) throw malformed('it has no tag')
  return tags
}

/** Returns the elements of a header with a list, which is split at commas outside of double quotes. */
export function* listElements(value: string): Iterable<string> {
  let start = 0
  let quoted = false
  for (let index = 0; index <= value.length; index++) {
    const character = value[index]
    if (character === '"') quoted = !quoted
    if (index < value.length && (character !== ',' || quoted)) continue
    yield trimBlanks(value.slice(start, index))
    start = index + 1
  }
}

function malformed(rule: string): ServiceError {
  return new ServiceError('MALFORMED_HEADER', `The header If-Match is malformed: ${rule}.`)
}
