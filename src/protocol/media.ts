/** Whether an `Accept` header admits `application/json` (D14). A malformed header counts as absent. */
export function acceptsJson(accept: string | undefined): boolean {
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

/** Whether a `Content-Type` header names JSON in UTF-8 (D14). */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  if (contentType === undefined || contentType.length > 1024) return false
  const [type, ...parameters] = contentType.split(';')
  if (type?.trim().toLowerCase() !== 'application/json') return false
  return parameters.every((parameter) => {
    const [name, value = ''] = parameter.split('=', 2)
    if (name?.trim().toLowerCase() !== 'charset') return true
    return /^("utf-8"|utf-8)$/i.test(value.trim())
  })
}

/** Whether a `Content-Encoding` header leaves the body as it is (D14). */
export function isIdentity(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.trim().toLowerCase() === 'identity'
}

function qualityOf(parameters: string | undefined): number {
  const match = /(?:^|;)\s*q\s*=\s*([0-9.]+)/i.exec(parameters ?? '')
  const quality = match === null ? 1 : Number(match[1])
  return Number.isNaN(quality) ? 1 : quality
}
