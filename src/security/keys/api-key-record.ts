import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { isUuid } from '../../definition/field-type.ts'
import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { accepted, flag, line, minutes, priority } from '../check-call.ts'
import { headerName } from './header-name.ts'
import { sha256 } from './key-text.ts'

/** The optional properties of an API key provider, with the names and defaults of the contract. */
export interface ApiKeyProperties {
  /** The header that contains the key. Default `X-API-Key`. */
  readonly HttpHeaderName: string
  /** Whether the key may be a query parameter. Default false. */
  readonly AllowApiKeyInQueryString: boolean
  /** The name of that parameter. Default `apiKey`. */
  readonly QueryStringParameterName: string
  /** Whether keys over plain HTTP are accepted. Default false. */
  readonly AllowInsecureHttp: boolean
}

/** The complete configuration record of an API key provider, as plain data. */
export interface ApiKeyRecord {
  readonly name: string
  readonly type: 'api_key'
  readonly priority: number
  readonly enabled: boolean
  readonly identifier: string
  /** The default lifetime of new keys in minutes; null: `maxExpiry`. */
  readonly defaultExpiry: number | null
  /** The maximum lifetime of new keys in minutes; null: there is no maximum. */
  readonly maxExpiry: number | null
  /** The length of new keys in bytes. */
  readonly length: number
  readonly properties: ApiKeyProperties
}

/** The options of an API key provider. Changes apply to new keys only. */
export interface ApiKeyOptions {
  readonly name: string
  /** Present in exported records. */
  readonly type?: 'api_key'
  /** An integer, unique in a service. Default 50. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /**
   * A UUID. Default: derived from the name, the same at every start and on every instance. Keys belong to
   * the identifier: before you rename a provider that has keys, set it to its present value.
   */
  readonly identifier?: string
  /** The default lifetime of new keys in minutes, at least 1. Default: `maxExpiry`, or no expiry. */
  readonly defaultExpiry?: number | null
  /** The maximum lifetime of new keys in minutes, at least 1. Default: no maximum. */
  readonly maxExpiry?: number | null
  /** The length of new keys in bytes, 16 to 128. Default 16. */
  readonly length?: number
  readonly properties?: Partial<ApiKeyProperties>
}

const shape = z.strictObject({
  name: line(1, 200),
  type: z.optional(accepted<'api_key'>((value) => value === 'api_key', 'must be api_key')),
  priority: z._default(priority, 50),
  enabled: z._default(flag, true),
  identifier: z.optional(
    accepted<string>(
      (value) => typeof value === 'string' && isUuid(value),
      'must be a UUID; without it, one is derived from the name',
    ),
  ),
  defaultExpiry: z.nullish(minutes(1)),
  maxExpiry: z.nullish(minutes(1)),
  length: z._default(wholeNumber(16, 128, 'must be a whole number of bytes, 16 to 128'), 16),
  properties: z.prefault(
    z.strictObject({
      HttpHeaderName: z._default(headerName, 'X-API-Key'),
      AllowApiKeyInQueryString: z._default(flag, false),
      QueryStringParameterName: z._default(
        accepted<string>(
          isParameterName,
          'must be a parameter name without white space that does not start with $',
        ),
        'apiKey',
      ),
      AllowInsecureHttp: z._default(flag, false),
    }),
    {},
  ),
})

/**
 * Returns the configuration record of an API key provider with its defaults. Throws a TypeError that lists
 * every mistake with its place and what to write instead.
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

/** Returns a UUID of version 8 (RFC 9562): the start of a hash, with the bits of version and variant. */
function identifierOf(name: string): string {
  const bytes = Buffer.from(sha256(`rowgate API key provider\0${name}`), 'base64url')
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return [...parts, hex.slice(20, 32)].join('-')
}
