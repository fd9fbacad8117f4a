import { X509Certificate } from 'node:crypto'
import * as z from 'zod'
import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { code } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Authentication, Secret } from './authentication.ts'
import type { Fetch } from './guarded-fetch.ts'
import { isAddressRange } from './private-addresses.ts'
import { urlMistake } from './target-url.ts'

/** The options of {@link connection}. */
export interface ConnectionOptions {
  /** The URL below which the endpoints are: `https://api.example.com/v1`. */
  readonly baseUrl: string
  /** Headers of every request. A function is called once for each request. Default: none. */
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
  /** Whether URLs may begin with `http:`. Default: false. */
  readonly allowHttp?: boolean | undefined
  /**
   * Hosts that a call may use besides that of the base URL: `api.example.com`, with a port if it is
   * not the default port, or `*.example.com` for all subdomains. Default: none.
   */
  readonly allowHosts?: readonly string[] | undefined
  /**
   * Whether hosts may have private addresses: true for all, or ranges such as `10.1.0.0/16`.
   * Default: false.
   */
  readonly allowPrivateAddresses?: boolean | readonly string[] | undefined
  /**
   * The certificates that are trusted instead of those of Node, each as a PEM string: that of the service, or
   * of the authority that signed it. Not on Bun. Default: those of Node.
   */
  readonly ca?: string | readonly string[] | undefined
  /**
   * The header that contains the idempotency key of a call, and whether the key is sent as a quoted string.
   * Default: `Idempotency-Key`, not quoted.
   */
  readonly idempotency?:
    { readonly header?: string | undefined; readonly quoted?: boolean | undefined } | undefined
}

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name')
const secret = z.union([z.string(), code<() => string | Promise<string>>()])
const milliseconds = z.int().min(1).max(3_600_000)
const range = z
  .string()
  .refine(isAddressRange, { error: 'must be an address or a range of addresses' })

const certificate = z.string().refine(isCertificate, { error: 'must be a certificate as PEM' })

const authentication = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('basic'),
    user: z.string().regex(/^[^:]+$/, 'must not contain a colon'),
    password: secret,
  }),
  z.strictObject({
    kind: z.literal('apiKey'),
    key: secret,
    header: headerName.optional(),
    query: z.string().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('bearer'), token: secret }),
  z.strictObject({
    kind: z.literal('clientCredentials'),
    tokenUrl: z.string(),
    clientId: z.string().min(1),
    clientSecret: secret,
    scope: z.string().min(1).optional(),
    parameters: z.record(z.string(), z.string()).optional(),
    clientAuthentication: z.enum(['basic', 'body']).optional(),
  }),
])

const shape = z.strictObject({
  baseUrl: z.string(),
  headers: z.record(headerName, secret).default({}),
  query: z.record(z.string(), secret).default({}),
  authentication: authentication.default({ kind: 'none' }),
  fetch: code<Fetch>().optional(),
  timeout: milliseconds.default(30_000),
  attempts: z.int().min(1).max(20).default(3),
  maxResponseBytes: z
    .int()
    .min(1)
    .default(10 * 1024 * 1024),
  maxDepth: z.int().min(1).max(1000).default(64),
  allowHttp: z.boolean().default(false),
  allowHosts: z.array(z.string().regex(/^(?:\*\.)?[^\s/*@?#]+$/, 'must be a host')).default([]),
  allowPrivateAddresses: z.union([z.boolean(), z.array(range)]).default(false),
  ca: z.union([certificate, z.array(certificate).min(1)]).optional(),
  idempotency: z
    .strictObject({ header: headerName.optional(), quoted: z.boolean().optional() })
    .default({}),
} satisfies Record<keyof ConnectionOptions, z.ZodType>)

/** The complete options of a connection. */
export type ConnectionSettings = z.infer<typeof shape>

/** Checks and completes the options of a connection. Throws a TypeError that lists every mistake. */
export function completeConnection(options: ConnectionOptions): ConnectionSettings {
  const settings = completeOptions('connection', shape, options)
  const mistakes = [
    ...urlMistakes('connection.baseUrl', settings.baseUrl, settings),
    ...authenticationMistakes(settings),
    ...(settings.ca !== undefined && settings.fetch !== undefined
      ? [{ place: 'connection.ca', advice: 'has no effect with fetch: leave one of them out' }]
      : []),
  ]
  if (mistakes.length > 0) throw mistaken(mistakes)
  return settings
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
    return urlMistakes(`${place}.tokenUrl`, authentication.tokenUrl, settings)
  if (authentication.kind !== 'apiKey') return []
  const { header, query } = authentication
  if ((header === undefined) === (query === undefined))
    return [{ place, advice: 'must state where the key is sent: either header or query' }]
  return []
}

function urlMistakes(
  place: string,
  url: string,
  settings: { readonly allowHttp: boolean },
): readonly Mistake[] {
  const advice = urlMistake(url, settings)
  return advice === undefined ? [] : [{ place, advice }]
}
