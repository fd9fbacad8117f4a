import { z } from 'zod'
import { completeOptions } from '../../definition/options.ts'
import { isUuid } from '../../definition/field-type.ts'
import { mistaken, type Mistake } from '../../definition/mistake.ts'
import { accepted, flag, line, minutes, priority } from '../check-call.ts'
import { headerName } from './header-name.ts'
import { sha256 } from './key-text.ts'

/** The optional properties of an API key provider, by the names and with the defaults of section 5. */
export interface ApiKeyProperties {
  /** The header that carries the key. Default `X-API-Key`. */
  readonly HttpHeaderName: string
  /** Whether the key may come as a query parameter. Default false. */
  readonly AllowApiKeyInQueryString: boolean
  /** The name of that parameter. Default `apiKey`. */
  readonly QueryStringParameterName: string
  /** Whether keys over plain HTTP are accepted. Default false. */
  readonly AllowInsecureHttp: boolean
}

/** The configuration record of an API key provider (section 2.6): plain data, complete. */
export interface ApiKeyRecord {
  readonly name: string
  readonly type: 'api_key'
  readonly priority: number
  readonly enabled: boolean
  readonly identifier: string
  /** Minutes; null: new keys live as long as `maxExpiry` says. */
  readonly defaultExpiry: number | null
  /** Minutes; null: there is no maximum. */
  readonly maxExpiry: number | null
  /** Bytes. */
  readonly length: number
  readonly properties: ApiKeyProperties
}

/** What an API key provider is made of (section 2.6). Every change applies to new keys only (D41). */
export interface ApiKeyOptions {
  readonly name: string
  /** For exported records. */
  readonly type?: 'api_key'
  /** A whole number, unique in a service (D43). Default 50. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /**
   * A UUID. Default: one that is made of the name, the same at every start and on every instance. Keys
   * belong to it: set it to what it was before you change the name of a provider that has keys.
   */
  readonly identifier?: string
  /** Minutes, at least 1. Default: `maxExpiry`; without that, new keys do not expire. */
  readonly defaultExpiry?: number | null
  /** Minutes, at least 1. Default: no maximum. */
  readonly maxExpiry?: number | null
  /** Bytes, 16 to 128. Default 16. */
  readonly length?: number
  readonly properties?: Partial<ApiKeyProperties>
}

const shape = z.strictObject({
  name: line(1, 200),
  type: accepted<'api_key'>((value) => value === 'api_key', 'must be api_key').optional(),
  priority: priority.default(50),
  enabled: flag.default(true),
  identifier: accepted<string>(
    (value) => typeof value === 'string' && isUuid(value),
    'must be a UUID; leave it out to have one made of the name',
  ).optional(),
  defaultExpiry: minutes(1).nullish(),
  maxExpiry: minutes(1).nullish(),
  length: accepted<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= 16 && Number(value) <= 128,
    'must be a whole number of bytes, 16 to 128',
  ).default(16),
  properties: z
    .strictObject({
      HttpHeaderName: headerName.default('X-API-Key'),
      AllowApiKeyInQueryString: flag.default(false),
      QueryStringParameterName: accepted<string>(
        isParameterName,
        'must be a parameter name without white space that does not start with $',
      ).default('apiKey'),
      AllowInsecureHttp: flag.default(false),
    })
    .prefault({}),
})

/**
 * Completes the configuration record of an API key provider. Throws a TypeError that lists every
 * mistake with its place and what to write instead.
 */
export function completeRecord(given: unknown, root: string): ApiKeyRecord {
  const complete = completeOptions(root, shape, given)
  const mistakes = lifetimeMistakes(complete, root)
  if (mistakes.length > 0) throw mistaken(mistakes)
  const { name, enabled, identifier, length, properties } = complete
  return Object.freeze({
    name,
    type: 'api_key',
    priority: complete.priority,
    enabled,
    identifier: identifier?.toLowerCase() ?? identifierOf(name),
    defaultExpiry: complete.defaultExpiry ?? null,
    maxExpiry: complete.maxExpiry ?? null,
    length,
    properties: Object.freeze(properties),
  })
}

function lifetimeMistakes(
  { defaultExpiry, maxExpiry }: z.infer<typeof shape>,
  root: string,
): readonly Mistake[] {
  if (defaultExpiry == null || maxExpiry == null || defaultExpiry <= maxExpiry) return []
  const advice = `must not be above maxExpiry, which is ${maxExpiry}`
  return [{ place: `${root}.defaultExpiry`, advice }]
}

function isParameterName(value: unknown): boolean {
  return (
    typeof value === 'string' && value.isWellFormed() && /^[^$\s\p{Cc}][^\s\p{Cc}]*$/u.test(value)
  )
}

/** A UUID of version 8 (RFC 9562): the start of a hash, with the bits of version and variant. */
function identifierOf(name: string): string {
  const bytes = Buffer.from(sha256(`rowgate API key provider\0${name}`), 'base64url')
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return [...parts, hex.slice(20, 32)].join('-')
}
