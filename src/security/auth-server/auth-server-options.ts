import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { accepted, flag, line, priority } from '../check-call.ts'

// Algorithms with a shared secret are missing: an attacker could sign with the public key as the secret.
const known = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** A JSON Web Key Set (RFC 7517) of public keys. */
export interface PublicKeySet {
  readonly keys: readonly object[]
}

/** The options of a provider for the tokens of an authorization server. */
export interface AuthServerOptions {
  /** Default `Auth server`. */
  readonly name?: string
  /** An integer, unique in a service. Default 70. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /** The exact `iss` of every token. */
  readonly issuer: string
  /** The values of which `aud` must contain at least one. */
  readonly audience: string | readonly string[]
  /**
   * The server's public keys: the https URL of its JSON Web Key Set (http on loopback only), or the set
   * itself, of at most 256 KiB and 100 keys. A URL is fetched for the first token, every ten minutes, and
   * for a key that is not in the set. After failures, the time between fetches grows up to 15 seconds.
   */
  readonly jwks: string | PublicKeySet
  /** The accepted signature algorithms, with public keys only. Default RS256, PS256, ES256 and EdDSA. */
  readonly algorithms?: readonly string[]
  /** The tolerated difference of the clocks in seconds, 0 to 300. Default 5. */
  readonly clockTolerance?: number
  /** The claim that names the user. Default `sub`. */
  readonly userClaim?: string
  /**
   * The claim with the roles: a list of strings, or one string that separates them by spaces. Without it
   * the caller has no roles. A name with dots such as `realm_access.roles` is read as a claim name first,
   * then as a path; this applies to all claim names except in `requiredClaims`. Default `roles`.
   */
  readonly rolesClaim?: string
  /** The claims that become attributes, by attribute name. Their values must be flat. Default: none. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Claims that are required in addition to `iss`, `aud` and `exp`. Default: none. */
  readonly requiredClaims?: readonly string[]
  /** The maximum age of a token in seconds; makes `iat` required. Default: no maximum. */
  readonly maxTokenAge?: number
  /**
   * `token`: user, roles and attributes come from the token. `known`: the user must exist in the service
   * and be enabled, and roles and attributes come from the user's record. Default `token`.
   */
  readonly users?: 'token' | 'known'
  /** Whether tokens over plain HTTP are accepted. Default false. */
  readonly allowInsecureHttp?: boolean
  /** The timeout of fetching the keys in milliseconds, up to 60000. Default 5000. */
  readonly timeout?: number
  /** The time in milliseconds after a fetch in which unknown keys cause no other one. Default 30000. */
  readonly cooldown?: number
}

const claim = line(1, 200)
const audience = line(1, 1000)

const shape = z.strictObject({
  name: z._default(line(1, 200), 'Auth server'),
  priority: z._default(priority, 70),
  enabled: z._default(flag, true),
  issuer: line(1, 1000),
  audience: accepted<string | readonly string[]>(
    (value) =>
      z.union([audience, z.array(audience).check(z.minLength(1))]).safeParse(value).success,
    'must be the string that names this service in aud, or a list of such strings',
  ),
  jwks: accepted<string | PublicKeySet>(
    (value) => (typeof value === 'string' ? isFetchable(value) : isPublicKeySet(value)),
    'must be an https URL without user and password (http on loopback only), or a JSON Web Key Set of public keys',
  ),
  algorithms: z._default(
    z.array(z.enum(known)).check(z.minLength(1, 'must contain at least one algorithm')),
    ['RS256', 'PS256', 'ES256', 'EdDSA'],
  ),
  clockTolerance: z._default(number('seconds', 0, 300), 5),
  userClaim: z._default(claim, 'sub'),
  rolesClaim: z._default(claim, 'roles'),
  attributes: z._default(z.record(claim, claim), {}),
  requiredClaims: z._default(z.array(claim), []),
  maxTokenAge: z.optional(number('seconds', 1, Number.MAX_SAFE_INTEGER)),
  users: z._default(z.enum(['token', 'known']), 'token'),
  allowInsecureHttp: z._default(flag, false),
  timeout: z._default(number('milliseconds', 1, 60_000), 5_000),
  cooldown: z._default(number('milliseconds', 0, 24 * 60 * 60 * 1000), 30_000),
})

/** The options with all their defaults. */
export type CompleteAuthServer = z.infer<typeof shape>

/** Returns the options with their defaults. Throws a TypeError that lists every mistake. */
export function completeAuthServer(options: unknown): CompleteAuthServer {
  return completeOptions('authServer', shape, options)
}

function number(unit: string, min: number, max: number) {
  return wholeNumber(min, max, `must be a whole number of ${unit}, ${min} to ${max}`)
}

function isFetchable(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

// `URL` has normalized the hostname.
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

function isPublicKeySet(value: unknown): boolean {
  const { keys } = Object(value) as { readonly keys?: unknown }
  return Array.isArray(keys) && keys.length > 0 && keys.every(isPublicKey)
}

function isPublicKey(key: unknown): boolean {
  return (
    typeof key === 'object' &&
    key !== null &&
    typeof (key as { kty?: unknown }).kty === 'string' &&
    // The private members of RSA, EC, OKP, symmetric and post-quantum keys.
    !['d', 'k', 'priv'].some((part) => part in key)
  )
}
