import type { EndpointRequest } from '../call.ts'
import { CallError } from '../call-error.ts'

/** Which URLs may be called. */
export interface UrlRules {
  readonly baseUrl: string
  readonly allowHttp: boolean
  readonly allowHosts: readonly string[]
}

/** Returns what is wrong with a base URL; undefined if nothing is. */
export function urlMistake(
  text: string,
  { allowHttp }: Pick<UrlRules, 'allowHttp'>,
): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL'
  const { protocol, username, password, search, hash } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:'
  if (protocol === 'http:' && !allowHttp) return 'must begin with https:, or set allowHttp'
  if (username !== '' || password !== '') return 'must not contain credentials: use authentication'
  if (search !== '' || hash !== '') return 'must not contain ? or #: use query'
  return undefined
}

/** Returns the URL of a request. Throws FORBIDDEN_URL if the request may not be sent there. */
export function targetUrl(request: EndpointRequest, rules: UrlRules): URL {
  const { endpoint, path, query, options } = request
  const base = baseOf(request, rules)
  if (options.url !== undefined) {
    const origin = new URL(base).origin
    const url = URL.canParse(options.url, base) ? new URL(options.url, base) : undefined
    if (url?.origin !== origin || url.username !== '' || url.password !== '')
      throw forbidden(endpoint, 'the URL has another origin than the base URL')
    url.hash = ''
    return url
  }
  const url = new URL(base.replace(/\/$/, '') + path)
  for (const [name, value] of query) url.searchParams.append(name, value)
  return url
}

function baseOf({ endpoint, options }: EndpointRequest, rules: UrlRules): string {
  const { baseUrl } = options
  if (baseUrl === undefined) return rules.baseUrl
  const mistake = urlMistake(baseUrl, rules)
  if (mistake !== undefined) throw forbidden(endpoint, `the base URL ${mistake}`)
  const { host } = new URL(baseUrl)
  if (!rules.allowHosts.some((allowed) => matches(host, allowed.toLowerCase())))
    throw forbidden(endpoint, 'its base URL has a host that is not in allowHosts')
  return baseUrl
}

function matches(host: string, allowed: string): boolean {
  if (!allowed.startsWith('*.')) return host === allowed
  return host.endsWith(allowed.slice(1)) && host.length > allowed.length - 1
}

function forbidden(endpoint: string, detail: string): CallError {
  return new CallError('FORBIDDEN_URL', endpoint, { detail })
}
