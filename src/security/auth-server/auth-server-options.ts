import { z } from 'zod'
import { completeOptions } from '../../definition/options.ts'
import { accepted, flag, line, priority } from '../check-call.ts'

// None of them verifies with a secret: a public key must never be taken for one.
const known = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** A JSON Web Key Set (RFC 7517) of public keys. */
export interface PublicKeySet {
  readonly keys: readonly object[]
}

/** What a provider for the tokens of an authorization server is made of. */
export interface AuthServerOptions {
  /** Default `Auth server`. */
  readonly name?: string
  /** A whole number, unique in a service (D43). Default 70. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /** The `iss` of every token, exactly. */
  readonly issuer: string
  /** What `aud` has to name; one of them is enough. */
  readonly audience: string | readonly string[]
  /**
   * The server's public keys: the URL of its JSON Web Key Set, over https (http on loopback only), or
   * the set itself, of at most 256 KiB and 100 keys. A URL is fetched when the first token comes, every
   * ten minutes, and for a key that is not in the set; after failures less and less often, and at least
   * every 15 seconds.
   */
  readonly jwks: string | PublicKeySet
  /** Signatures that are accepted, public-key ones only. Default RS256, PS256, ES256 and EdDSA. */
  readonly algorithms?: readonly string[]
  /** How far clocks may differ, in seconds, 0 to 300. Default 5. */
  readonly clockTolerance?: number
  /** The claim that names the user. Default `sub`. */
  readonly userClaim?: string
  /**
   * The claim with the roles: a list of texts, or one text with spaces between them. Without it the
   * caller has no roles. A name such as `realm_access.roles` is first tried as it stands, then as a path,
   * here and wherever a claim is named but in `requiredClaims`. Default `roles`.
   */
  readonly rolesClaim?: string
  /** The claims that become attributes, by attribute name. Their values have to be flat. Default: none. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Claims that have to be there besides `iss`, `aud` and `exp`. Default: none. */
  readonly requiredClaims?: readonly string[]
  /** Seconds since a token was issued (`iat`, which it then has to have). Default: no maximum. */
  readonly maxTokenAge?: number
  /**
   * `token`: user, roles and attributes are those of the token. `known`: the user also has to exist and
   * to be enabled here, and roles and attributes are those of the user's record. Default `token`.
   */
  readonly users?: 'token' | 'known'
  /** Whether tokens over plain HTTP are accepted (D26). Default false. */
  readonly allowInsecureHttp?: boolean
  /** How long fetching the keys may take, in milliseconds, up to 60000. Default 5000. */
  readonly timeout?: number
  /** How long after a fetch an unknown key is not looked for again, in milliseconds. Default 30000. */
  readonly cooldown?: number
}

const claim = line(1, 200)
const audience = line(1, 1000)

const shape = z.strictObject({
  name: line(1, 200).default('Auth server'),
  priority: priority.default(70),
  enabled: flag.default(true),
  issuer: line(1, 1000),
  audience: accepted<string | readonly string[]>(
    (value) => z.union([audience, z.array(audience).min(1)]).safeParse(value).success,
    'must be the text that names this service in aud, or a list of such texts',
  ),
  jwks: accepted<string | PublicKeySet>(
    (value) => (typeof value === 'string' ? isFetchable(value) : isPublicKeySet(value)),
    'must be an https URL without user and password (http on loopback only), or a JSON Web Key Set of public keys',
  ),
  algorithms: z
    .array(z.enum(known))
    .min(1, 'must name an algorithm')
    .default(['RS256', 'PS256', 'ES256', 'EdDSA']),
  clockTolerance: number('seconds', 0, 300).default(5),
  userClaim: claim.default('sub'),
  rolesClaim: claim.default('roles'),
  attributes: z.record(claim, claim).default({}),
  requiredClaims: z.array(claim).default([]),
  maxTokenAge: number('seconds', 1, Number.MAX_SAFE_INTEGER).optional(),
  users: z.enum(['token', 'known']).default('token'),
  allowInsecureHttp: flag.default(false),
  timeout: number('milliseconds', 1, 60_000).default(5_000),
  cooldown: number('milliseconds', 0, 24 * 60 * 60 * 1000).default(30_000),
})

/** The options with all their defaults. */
export type CompleteAuthServer = z.infer<typeof shape>

/** Checks the options of a provider. Throws a TypeError that lists every mistake. */
export function completeAuthServer(options: unknown): CompleteAuthServer {
  return completeOptions('authServer', shape, options)
}

function number(unit: string, least: number, most: number) {
  return accepted<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    `must be a whole number of ${unit}, ${least} to ${most}`,
  )
}

function isFetchable(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

// Addresses have been brought into their usual form.
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
    // The secret parts of RSA, EC and OKP keys, of secrets, and of post-quantum keys.
    !['d', 'k', 'priv'].some((part) => part in key)
  )
}
