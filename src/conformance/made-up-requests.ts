import type { Credentials } from '../request/request.ts'
import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from '../security/provider.ts'
import { changed, credentials } from './credentials.ts'
import { garbage } from './made-up-values.ts'
import { asText, attempt, carriersOf, type CompleteSubject } from './security-subject.ts'

/** A generated request and its description. */
export interface MadeUpRequest {
  readonly what: string
  readonly request: Credentials
}

const otherSchemes: readonly string[] = [
  'Basic bm9ib2R5Om5vdGhpbmc=',
  'Bearer bm9ib2R5.bm90aGluZw.bm9ib2R5',
  'Digest username="unknown"',
  'Negotiate YII',
  'X-Rowgate-Unknown bm9ib2R5',
  'bm9ib2R5',
]

/** Returns requests with credentials of other kinds. The `Authorization` scheme of the provider is left out. */
export function foreignRequests(subject: CompleteSubject): readonly MadeUpRequest[] {
  const own = [...subject.valid.map(({ request }) => request), ...subject.invalid].map(schemeOf)
  const schemes = otherSchemes
    .map((authorization) => credentials({ headers: { authorization } }))
    .filter((request) => !own.includes(schemeOf(request)))
    .map((request) => ({ what: `the scheme ${schemeOf(request)}`, request }))
  const headers = { 'x-rowgate-unrelated': 'bm9ib2R5', cookie: 'rowgate-unrelated=bm9ib2R5' }
  const others = Object.entries(headers).map(([name, value]) => ({
    what: `an unrelated ${name}`,
    request: credentials({ headers: { [name]: value } }),
  }))
  const target = '/rest/v1/app/items?rowgate-unrelated=bm9ib2R5'
  const given = subject.foreign.map((request, index) => ({ what: `foreign ${index}`, request }))
  const query = { what: 'an unrelated parameter', request: credentials({ target }) }
  return [...schemes, ...others, query, ...given]
}

/** Returns requests with another value in the place of the credential, or next to it. */
export function garbled(
  provider: SecurityProvider,
  request: Credentials,
): readonly MadeUpRequest[] {
  const inHeaders = carriersOf(provider, request).flatMap((name) => {
    const value = request.header(name) ?? ''
    const mixed = garbage.flatMap((text) => [`${firstWord(value)} ${text}`, `${value}, ${text}`])
    return [...garbage, ...mixed].map((text) => inHeader(request, name, text))
  })
  const inQuery = pairsOf(provider, request).flatMap((pair) =>
    [...garbage.slice(0, 30), ...garbage.map(encoded)].map((text) => inPair(request, pair, text)),
  )
  return [...inHeaders, ...inQuery, ...repeated(provider, request)]
}

/** Returns requests with the credential twice: in a joined header, and in the query. */
export function repeated(
  provider: SecurityProvider,
  request: Credentials,
): readonly MadeUpRequest[] {
  const inHeaders = carriersOf(provider, request).flatMap((name) =>
    beside(request, name).map((text) => inHeader(request, name, text)),
  )
  const inQuery = pairsOf(provider, request).flatMap((pair) =>
    [`${pair.value}&${pair.name}=${pair.value}`, `${pair.value}&${pair.name}=x`].map((text) =>
      inPair(request, pair, text),
    ),
  )
  return [...inHeaders, ...inQuery]
}

/** Returns a target without the named query parameters. */
export function withoutParameters(target: string, names: readonly string[]): string {
  const [path = '', ...rest] = target.split('?')
  const pairs = rest.join('?').split('&')
  const left = pairs.filter((pair) => {
    const [name = ''] = pair.split('=')
    return !names.includes(decodeFormPercent(name) ?? name)
  })
  return left.length === 0 || rest.length === 0 ? path : `${path}?${left.join('&')}`
}

interface Pair {
  readonly name: string
  readonly value: string
  /** Where the value starts in the target. */
  readonly start: number
}

// The parameters that carry the credential: without one, `find` has another result.
function pairsOf(provider: SecurityProvider, request: Credentials): readonly Pair[] {
  const expected = asText(attempt(provider, changed(request, {})))
  return Array.from(request.target.matchAll(/[?&]([^=&]*)=([^&]*)/g))
    .map(({ 0: pair, 1: name = '', 2: value = '', index }) => {
      return { name, value, start: index + pair.length - value.length }
    })
    .filter(({ name }) => {
      const target = withoutParameters(request.target, [decodeFormPercent(name) ?? name])
      return asText(attempt(provider, changed(request, { target }))) !== expected
    })
}

function inHeader(request: Credentials, name: string, text: string): MadeUpRequest {
  return { what: `header ${name}`, request: changed(request, { headers: { [name]: text } }) }
}

function inPair(request: Credentials, { name, value, start }: Pair, text: string): MadeUpRequest {
  const { target } = request
  const odd = target.slice(0, start) + text + target.slice(start + value.length)
  return { what: `parameter ${name}`, request: changed(request, { target: odd }) }
}

// Repeated headers are joined with a comma, and cookies with a semicolon.
function beside(request: Credentials, name: string): readonly string[] {
  const value = request.header(name) ?? ''
  return (name === 'cookie' ? ['; ', ';'] : [', ', ',']).map((joint) => value + joint + value)
}

function firstWord(value: string): string {
  return /^\S*/.exec(value)?.[0] ?? ''
}

function schemeOf(request: Credentials): string | undefined {
  return request.header('authorization')?.split(' ')[0]?.toLowerCase()
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
