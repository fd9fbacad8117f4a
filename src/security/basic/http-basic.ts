import type { MaybePromise } from '../../maybe-promise.ts'
import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { admitUser } from '../users/admit-user.ts'
import { accepted, flag, line, priority } from '../check-call.ts'
import { authorizationFinder } from '../find-authorization.ts'
import { rememberHash } from './checked-password.ts'
import { passwordAttempts, type Attempt, type AttemptLimits } from './attempts.ts'
import { passwordChecks } from './password-checks.ts'
import {
  costBounds,
  defaultCost,
  isAffordable,
  type PasswordCost,
  maxPasswordBytes,
} from './password.ts'
import type { PasswordProvider, Rejected } from '../provider.ts'
import type { Account } from '../users/user-store.ts'

/** The options of an HTTP Basic provider. */
export interface HttpBasicOptions {
  /** Default `HTTP Basic`. */
  readonly name?: string
  /** An integer, unique in a service. Default 60. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /** The realm, which browsers show: 1 to 200 ASCII characters. Default `rowgate`. */
  readonly realm?: string
  /** Whether passwords over plain HTTP are accepted. Default false. */
  readonly allowInsecureHttp?: boolean
  /**
   * Checks the password in place of the stored hash. It is called on every request, also for unknown
   * users and empty passwords; in any case the user must exist and be enabled.
   */
  readonly verify?: (user: string, password: string) => MaybePromise<boolean>
  /** The cost of new hashes; stored hashes keep their own. Default: N 32768, r 8, p 3. */
  readonly cost?: Partial<PasswordCost>
  /** The maximum number of hashes at the same time, 1 to 64; each uses a thread of Node's pool. Default 2. */
  readonly concurrency?: number
  /** The maximum number of requests that wait for a hash, 0 to 10000; above it the service responds 503. Default 64. */
  readonly waiting?: number
  /**
   * How many wrong passwords are checked for a name and from an address; further ones respond 429. False: any number.
   * Default: 30 for a name and 30 from an address, in 60 seconds.
   */
  readonly attempts?: AttemptLimits | false
}

const realmForm = /^[\x20-\x7e]{1,200}$/

const shape = z.strictObject({
  name: z._default(line(1, 200), 'HTTP Basic'),
  priority: z._default(priority, 60),
  enabled: z._default(flag, true),
  realm: z._default(
    accepted<string>(
      (value) => typeof value === 'string' && realmForm.test(value),
      'must be a string of 1 to 200 printable ASCII characters',
    ),
    'rowgate',
  ),
  allowInsecureHttp: z._default(flag, false),
  verify: z.optional(
    accepted<NonNullable<HttpBasicOptions['verify']>>(
      (value) => typeof value === 'function',
      'must be a function with the parameters user and password',
    ),
  ),
  cost: z.prefault(
    z
      .strictObject({
        N: z._default(z.number(), defaultCost.N),
        r: z._default(z.number(), defaultCost.r),
        p: z._default(z.number(), defaultCost.p),
      })
      .check(z.refine(isAffordable, costBounds)),
    {},
  ),
  concurrency: z._default(bounded(1, 64), 2),
  waiting: z._default(bounded(0, 10_000), 64),
  attempts: z._default(
    z.union([
      z.literal(false),
      z.strictObject({
        perName: z._default(bounded(1, 1_000_000), 30),
        perAddress: z._default(bounded(1, 1_000_000), 30),
        seconds: z._default(bounded(1, 86_400), 60),
      }),
    ]),
    { perName: 30, perAddress: 30, seconds: 60 },
  ),
})

/**
 * Creates a provider that authenticates by user and password (RFC 7617, UTF-8): `httpBasic()`. Passwords
 * are stored as salted scrypt hashes of the built-in users, or checked by `verify`. Throws a TypeError
 * that lists every mistake in the options.
 */
export function httpBasic(options: HttpBasicOptions = {}): PasswordProvider {
  const { name, priority, enabled, realm, allowInsecureHttp, verify, attempts, ...work } =
    completeOptions('httpBasic', shape, options)
  const { hash, check } = passwordChecks(work)
  const limited = passwordAttempts(attempts === false ? undefined : attempts)
  const findBasic = authorizationFinder('Basic')

  async function isCorrect(
    { user, password }: BasicCredentials,
    found: Account | undefined,
    begin: () => Attempt,
  ): Promise<boolean> {
    if (verify !== undefined) return verified(() => verify(user, password), begin())
    // Unknown and disabled users are checked too, so that the time of the response is the same.
    return check({ user, password, stored: found?.enabled ? found.password : null }, begin)
  }

  return Object.freeze({
    name,
    priority,
    enabled,
    type: 'http_basic_auth',
    challenge: `Basic realm="${realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`,
    allowInsecureHttp,
    limitsAttempts: attempts !== false,
    checksItself: verify !== undefined,
    keeps: Object.freeze(['users'] as const),
    hash,
    find: (request) => {
      const found = findBasic(request)
      return found && { ...found, peer: request.peer }
    },
    async identify({ value, peer }, context) {
      const given = decodeBasic(value)
      if (given === undefined) return malformed
      const found = await context.users.find(given.user)
      const begin = () => limited.begin(given.user, peer, context.now())
      const isRight = await isCorrect(given, found, begin)
      if (!isRight && found?.enabled) return wrong(found)
      const admitted = admitUser(found, name)
      const hash = verify === undefined ? found?.password : null
      if (!('rejected' in admitted) && typeof hash === 'string') rememberHash(admitted, hash)
      return admitted
    },
  } satisfies PasswordProvider)
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })

async function verified(verify: () => MaybePromise<boolean>, { ended }: Attempt): Promise<boolean> {
  let isRight: boolean | undefined
  try {
    // `verify` may be JavaScript: other truthy values do not count.
    isRight = ((await verify()) as unknown) === true
    return isRight
  } finally {
    ended(isRight)
  }
}

function wrong({ user }: Account): Rejected {
  return { rejected: 'unknown', user }
}

function bounded(min: number, max: number) {
  return wholeNumber(min, max, `must be an integer, ${min} to ${max}`)
}

/** The decoded content of an HTTP Basic credential. */
interface BasicCredentials {
  readonly user: string
  /** May be empty. */
  readonly password: string
}

// The same maximum as for built-in users.
const maxUserLength = 200
const maxEncodedLength = 4 * Math.ceil((maxUserLength * 4 + 1 + maxPasswordBytes) / 3)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes the user and password of an HTTP Basic credential (RFC 7617, UTF-8). It must be strict base64
 * without control characters, with a user of 1 to 200 characters, a colon, and a password of at most 1024
 * bytes. Returns undefined for anything else.
 */
export function decodeBasic(text: string): BasicCredentials | undefined {
  if (text.length > maxEncodedLength || !base64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  // Unused bits of the last character must be zero.
  if (bytes.toString('base64') !== text) return undefined
  const colon = bytes.indexOf(':')
  if (colon < 1 || bytes.length - colon - 1 > maxPasswordBytes) return undefined
  const user = decodeUtf8(bytes.subarray(0, colon))
  const password = decodeUtf8(bytes.subarray(colon + 1))
  if (user === undefined || password === undefined) return undefined
  if (Array.from(user).length > maxUserLength || /\p{Cc}/u.test(user + password)) return undefined
  return { user, password }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
