import { posix } from 'node:path'
import type { Request } from '../kit/http-client.ts'

/** A kind of request that the proxy forwards as another one, or does not forward. */
export interface ProxyLimit {
  readonly name: string
  readonly reason: string
  holds(request: Request): boolean
}

/** What the proxy can't pass through, in the order in which a request is compared with it. */
export const proxyLimits: readonly ProxyLimit[] = [
  {
    name: 'an absolute-form target',
    reason: 'it forwards the path only',
    holds: ({ target }) => !target.startsWith('/'),
  },
  {
    name: 'dot segments, empty segments, backslashes',
    reason: 'it parses the target as a URL, and joins its path with that of the server',
    holds: ({ target }) => pathOf(target) !== forwardedPath(target),
  },
  {
    name: 'malformed percent-encoding in a path',
    reason: 'it never responds',
    holds: ({ target }) => decoded(pathOf(target)) === undefined,
  },
  {
    name: 'a query with malformed percent-encoding, without =, or with repeated names',
    reason: 'it parses the query and writes it again',
    holds: ({ target }) => sentQuery(target) !== forwardedQuery(target),
  },
  {
    name: 'HEAD',
    reason: 'it parses the body of the response, which has none',
    holds: ({ method }) => method === 'HEAD',
  },
  {
    name: 'GET with a body',
    reason: 'it responds itself',
    holds: ({ method, body }) => method === 'GET' && body !== undefined,
  },
  {
    name: 'a repeated header',
    reason: 'it joins the values',
    holds: ({ headers = {} }) => Object.values(headers).some((value) => typeof value !== 'string'),
  },
  {
    name: 'a body with a malformed Content-Type, or in another encoding than UTF-8',
    reason: 'it responds itself, or decodes the body',
    holds: (request) =>
      request.body !== undefined && (!isMediaType(request) || textOf(request) === undefined),
  },
  {
    name: 'JSON in another form than that of JSON.stringify, or no object',
    reason: 'it parses the body and writes it again, and responds to malformed JSON itself',
    holds: (request) => isJson(request) && !isStringified(textOf(request)),
  },
  {
    name: 'a body of more than 100,000 bytes',
    reason: 'it can take longer than a response of the suite may take',
    holds: ({ body }) => body !== undefined && body.length > 100_000,
  },
]

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? ''
}

function forwardedPath(target: string): string | undefined {
  const url = URL.canParse(target, 'http://localhost')
    ? new URL(target, 'http://localhost')
    : undefined
  return url?.host === 'localhost' ? posix.join('/', url.pathname) : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function queryOf(target: string): string {
  return target.slice(pathOf(target).length + 1)
}

/** The names and values of a query in their order, as one string. */
function sentQuery(target: string): string {
  const pairs = queryOf(target).split('&')
  return JSON.stringify(
    pairs[0] === '' && pairs.length === 1
      ? []
      : pairs.map((pair) => pair.split('=').map((part) => decoded(part.replaceAll('+', ' ')))),
  )
}

function forwardedQuery(target: string): string {
  const values: Record<string, readonly string[]> = {}
  const sent = new URLSearchParams(queryOf(target))
  for (const name of sent.keys()) values[name] = sent.getAll(name)
  return JSON.stringify(
    Object.entries(values).flatMap(([name, all]) => all.map((value) => [name, value])),
  )
}

function typeOf({ headers = {} }: Request): string {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
  return String(type?.[1] ?? '').trim()
}

function isMediaType(request: Request): boolean {
  return /^$|^[\w*.+-]+\/[\w*.+-]+(\s*;\s*((?!charset)[\w-]+=[\w-]+|charset="?utf-8"?))*$/i.test(
    typeOf(request),
  )
}

function isJson(request: Request): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(typeOf(request)) && request.body !== undefined
}

function textOf({ body = '' }: Request): string | undefined {
  if (typeof body === 'string') return body
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  return Buffer.from(text).equals(body) ? text : undefined
}

function isStringified(text = ''): boolean {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && JSON.stringify(parsed) === text
  } catch {
    return false
  }
}
