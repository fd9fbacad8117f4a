import { X509Certificate } from 'node:crypto'
import * as z from 'zod/mini'
import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { code, nonEmpty, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Authentication } from './authentication.ts'
import type { Secret } from './secret.ts'
import { headerMistakes, headerName, type NamedHeader } from './header-names.ts'
import { largeNumbersOption, type LargeNumbers } from './json-text.ts'
import type { Fetch } from './node-fetch.ts'
import { isAddressRange } from './private-addresses.ts'
import { urlMistake } from './target-url.ts'

/** The options of {@link connection}. */
export interface ConnectionOptions {
  /** The URL below which the endpoints are: `https://api.example.com/v1`. */
  readonly baseUrl: string
  /**
   * Headers of every request. Headers of the body, such as `content-type`, and the header of `authentication` are not
   * allowed. A function is called once for each request. Default: none.
   */
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  /** Query parameters of every request. A function is called once for each request. Default: none. */
  readonly query?: Readonly<Record<string, Secret>> | undefined
  /** Default: none. */
  readonly authentication?: Authentication | undefined
  /**
   * Replaces `fetch`. Addresses are then not checked: the function must do so itself, as must a proxy.
   */
  readonly fetch?: Fetch | undefined
  /** Milliseconds for a call with all its retries. Default: 30,000. */
  readonly timeout?: number | undefined
  /** The maximum number of attempts of a call that may be retried. Default: 3. */
  readonly attempts?: number | undefined
  /** The maximum number of bytes of a response after decompression. Default: 10 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** The maximum nesting of a response. Default: 64. */
  readonly maxDepth?: number | undefined
  /**
   * What happens to numbers in a response that a double can't hold: integers above 2^53 and 1e999.
   * `reject`: the call fails. `string`: the number as it is written becomes a string. `exact`: each number that a
   * double does not hold exactly becomes a `JsonNumber`, which json fields store with all its digits. Default: `reject`.
   */
  readonly largeNumbers?: LargeNumbers | undefined
  /** Whether URLs may begin with `http:`. Default: false. */
  readonly allowHttp?: boolean | undefined
  /**
   * Further hosts that a call may use, besides the one in `baseUrl`: `api.example.com`, with a port if it is
   * not the default port, or `*.example.com` for all subdomains. Default: none.
   */
  readonly allowHosts?: readonly string[] | undefined
  /**
   * Whether hosts may have private addresses: true for all, or ranges such as `10.1.0.0/16`.
   * Default: false.
   */
  readonly allowPrivateAddresses?: boolean | readonly string[] | undefined
  /**
   * The certificates that are trusted instead of Node's certificates, each as a PEM string: the certificate of the
   * service, or of the authority that signed it. Not on Bun. Default: the certificates of Node.
   */
  readonly ca?: string | readonly string[] | undefined
  /**
   * The header that contains the idempotency key of a call, and whether the key is sent as a quoted string.
   * Default: `Idempotency-Key`, not quoted.
   */
  readonly idempotency?:
    { readonly header?: string | undefined; readonly quoted?: boolean | undefined } | undefined
}

const secret = z.union([z.string(), code<() => string | Promise<string>>()])
const range = z
  .string()
  .check(z.refine(isAddressRange, { error: 'must be an address or a range of addresses' }))

const certificate = z
  .string()
  .check(z.refine(isCertificate, { error: 'must be a certificate as PEM' }))

const authentication = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('basic'),
    user: z.string().check(z.regex(/^[^:]+$/, 'must not contain a colon')),
    password: secret,
  }),
  z.strictObject({
    kind: z.literal('apiKey'),
    key: secret,
    header: z.optional(headerName),
    query: z.optional(nonEmpty),
  }),
  z.strictObject({ kind: z.literal('bearer'), token: secret }),
  z.strictObject({
    kind: z.literal('clientCredentials'),
    tokenUrl: z.string(),
    clientId: nonEmpty,
    clientSecret: secret,
    scope: z.optional(nonEmpty),
    parameters: z.optional(z.record(z.string(), z.string())),
    clientAuthentication: z.optional(z.enum(['basic', 'body'])),
  }),
])

const shape = z.strictObject({
  baseUrl: z.string(),
  headers: z._default(z.record(headerName, secret), {}),
  query: z._default(z.record(z.string(), secret), {}),
  authentication: z._default(authentication, { kind: 'none' }),
  fetch: z.optional(code<Fetch>()),
  timeout: z._default(wholeNumber(1, 3_600_000), 30_000),
  attempts: z._default(wholeNumber(1, 20), 3),
  maxResponseBytes: z._default(wholeNumber(1), 10 * 1024 * 1024),
  maxDepth: z._default(wholeNumber(1, 1000), 64),
  largeNumbers: z._default(largeNumbersOption, 'reject'),
  allowHttp: z._default(z.boolean(), false),
  allowHosts: z._default(
    z.array(z.string().check(z.regex(/^(?:\*\.)?[^\s/*@?#]+$/, 'must be a host'))),
    [],
  ),
  allowPrivateAddresses: z._default(z.union([z.boolean(), z.array(range)]), false),
  ca: z.optional(z.union([certificate, z.array(certificate).check(z.minLength(1))])),
  idempotency: z._default(
    z.strictObject({ header: z.optional(headerName), quoted: z.optional(z.boolean()) }),
    {},
  ),
} satisfies Record<keyof ConnectionOptions, z.ZodMiniType>)

/** The complete options of a connection. */
export type ConnectionSettings = z.infer<typeof shape>

type TokenSettings = Extract<
  ConnectionSettings['authentication'],
  { readonly kind: 'clientCredentials' }
>

/** Checks and completes the options of a connection. Throws a TypeError that lists every mistake. */
export function completeConnection(options: ConnectionOptions): ConnectionSettings {
  const settings = completeOptions('connection', shape, options)
  const mistakes = [
    ...urlMistakes('connection.baseUrl', settings.baseUrl, settings),
    ...authenticationMistakes(settings),
    ...headerMistakes(headersOf(settings)),
    ...queryMistakes(settings),
    ...(settings.ca !== undefined && settings.fetch !== undefined
      ? [{ place: 'connection.ca', advice: 'has no effect with fetch: leave one of them out' }]
      : []),
  ]
  if (mistakes.length > 0) throw mistaken(mistakes)
  return settings
}

/** Returns the header that contains the idempotency key of a call. */
export function idempotencyHeader({ header }: ConnectionSettings['idempotency']): string {
  return header ?? 'idempotency-key'
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

function authenticationMistakes(settings: ConnectionSettings): readonly Mistake[] {
  const place = 'connection.authentication'
  const { authentication } = settings
  if (authentication.kind === 'clientCredentials')
    return [
      ...urlMistakes(`${place}.tokenUrl`, authentication.tokenUrl, settings),
      ...tokenMistakes(`${place}.parameters`, authentication),
    ]
  if (authentication.kind !== 'apiKey') return []
  const { header, query } = authentication
  if ((header === undefined) === (query === undefined))
    return [{ place, advice: 'must state where the key is sent: either header or query' }]
  return []
}

// The token request sets these itself, so a parameter of the same name would be replaced.
function tokenMistakes(
  place: string,
  { parameters = {}, scope, clientAuthentication }: TokenSettings,
): readonly Mistake[] {
  const names = [
    'grant_type',
    ...(scope === undefined ? [] : ['scope']),
    ...(clientAuthentication === 'body' ? ['client_id', 'client_secret'] : []),
  ]
  return names
    .filter((name) => Object.hasOwn(parameters, name))
    .map((name) => ({
      place: `${place}.${name}`,
      advice: 'is set by the token request: leave it out',
    }))
}

const takenByKey =
  'is the header of the idempotency key of a call: give the key with idempotencyKey, or name another header in connection.idempotency.header'

/** Returns the headers that the options name, with those that would replace the others first. */
function headersOf({
  authentication,
  idempotency,
  headers,
}: ConnectionSettings): readonly NamedHeader[] {
  const place = 'connection.authentication'
  const own =
    authentication.kind === 'none'
      ? []
      : authentication.kind !== 'apiKey'
        ? [{ place, name: 'authorization' }]
        : authentication.header === undefined
          ? []
          : [{ place: `${place}.header`, name: authentication.header }]
  const key = { place: 'connection.idempotency.header', name: idempotencyHeader(idempotency) }
  return [
    // Messages name no option that was not given.
    ...(idempotency.header === undefined ? [{ ...key, taken: takenByKey }] : []),
    ...own,
    ...(idempotency.header === undefined ? [] : [key]),
    ...Object.keys(headers).map((name) => ({ place: `connection.headers.${name}`, name })),
  ]
}

function queryMistakes({ authentication, query }: ConnectionSettings): readonly Mistake[] {
  const name = authentication.kind === 'apiKey' ? authentication.query : undefined
  if (name === undefined || !Object.hasOwn(query, name)) return []
  const advice = 'is also the parameter of connection.authentication: leave one of them out'
  return [{ place: `connection.query.${name}`, advice }]
}

function urlMistakes(
  place: string,
  url: string,
  settings: { readonly allowHttp: boolean },
): readonly Mistake[] {
  const advice = urlMistake(url, settings)
  return advice === undefined ? [] : [{ place, advice }]
}
