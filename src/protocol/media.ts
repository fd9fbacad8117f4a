/** Returns whether an `Accept` header allows `application/json`. A malformed header counts as absent. */
export function acceptsJson(accept: string | undefined): boolean {
  // Stryker disable next-line ConditionalExpression,StringLiteral: the loop gives the same, more slowly
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true
  let best = { specificity: -1, quality: 0 }
  let readable = false
  for (const range of accept.split(',')) {
    const match = /^\s*([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)\s*(?:;(.*))?$/.exec(range)
    if (match === null || (match[1] === '*' && match[2] !== '*')) continue
    readable = true
    const specificity = ['*/*', 'application/*', 'application/json'].indexOf(
      `${match[1]}/${match[2]}`.toLowerCase(),
    )
    if (specificity > best.specificity) best = { specificity, quality: qualityOf(match[3]) }
  }
  return !readable || best.quality > 0
}

const mediaType = /^[ \t]*application\/json[ \t]*/iy
const parameter = /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))?[ \t]*/y

/**
 * Returns whether a `Content-Type` header is JSON in UTF-8. Returns false for two media types, joined with
 * a comma, and for a malformed parameter.
 */
export function isJson(contentType: string | undefined): boolean {
  // Stryker disable next-line ConditionalExpression,StringLiteral: the patterns give the same, more slowly
  if (contentType === 'application/json') return true
  if (contentType === undefined || contentType.length > 1024) return false
  mediaType.lastIndex = 0
  if (!mediaType.test(contentType)) return false
  let at = mediaType.lastIndex
  while (at < contentType.length) {
    parameter.lastIndex = at
    // Stryker disable next-line StringLiteral,ArrayDeclaration: without a match no value is used
    const [, name, value = ''] = parameter.exec(contentType) ?? []
    if (parameter.lastIndex === 0) return false
    if (name?.toLowerCase() === 'charset' && !/^("utf-8"|utf-8)$/i.test(value)) return false
    at = parameter.lastIndex
  }
  return true
}

/** Returns whether a `Transfer-Encoding` header is absent or `chunked`, which HTTP servers decode. */
export function isChunked(transferEncoding: string | undefined): boolean {
  return transferEncoding === undefined || transferEncoding.trim().toLowerCase() === 'chunked'
}

/**
 * Returns whether a `Content-Encoding` header is absent or lists only `identity`: the body is not compressed. A
 * list may have empty elements, so an empty header lists no coding.
 */
export function isIdentity(contentEncoding: string | undefined): boolean {
  if (contentEncoding === undefined) return true
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase())
  return codings.every((coding) => coding === '' || coding === 'identity')
}

/** Returns whether an `If-None-Match` header is `*` or has an entity tag, which is compared weakly. */
export function namesEntityTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(tag)
}

/** Returns whether an `Accept-Encoding` header allows gzip. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = new Map(
    (acceptEncoding ?? '').split(',').map((coding) => {
      const [name = '', parameters] = coding.split(/;(.*)/s)
      return [name.trim().toLowerCase(), qualityOf(parameters)]
    }),
  )
  return (codings.get('gzip') ?? codings.get('*') ?? 0) > 0
}

function qualityOf(parameters: string | undefined): number {
  // Stryker disable next-line StringLiteral: text without q= gives the same
  const match = /(?:^|;)\s*q\s*=\s*([0-9.]+)/i.exec(parameters ?? '')
  const quality = match === null ? 1 : Number(match[1])
  return Number.isNaN(quality) ? 1 : quality
}
