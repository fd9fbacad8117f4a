import type { MaybePromise } from '../../maybe-promise.ts'
import { z } from 'zod'
import { completeOptions } from '../../checks/options.ts'
import { admitUser } from '../users/admit-user.ts'
import { decodeBasic, type BasicCredentials } from './basic-credentials.ts'
import { accepted, flag, line, priority } from '../check-call.ts'
import { authorizationFinder } from '../find-authorization.ts'
import { passwordChecks } from './password-checks.ts'
import { costBounds, defaultCost, isAffordable, type PasswordCost } from './password.ts'
import type { PasswordProvider, Rejected } from '../provider.ts'
import type { Account } from '../users/user-store.ts'

/** The options of an HTTP Basic provider. */
export interface HttpBasicOptions {
  /** Default `HTTP Basic`. */
  readonly name?: string
  /** A whole number, unique in a service. Default 60. */
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
}

const realmForm = /^[\x20-\x7e]{1,200}$/

const shape = z.strictObject({
  name: line(1, 200).default('HTTP Basic'),
  priority: priority.default(60),
  enabled: flag.default(true),
  realm: accepted<string>(
    (value) => typeof value === 'string' && realmForm.test(value),
    'must be a string of 1 to 200 printable ASCII characters',
  ).default('rowgate'),
  allowInsecureHttp: flag.default(false),
  verify: accepted<NonNullable<HttpBasicOptions['verify']>>(
    (value) => typeof value === 'function',
    'must be a function with the parameters user and password',
  ).optional(),
  cost: z
    .strictObject({
      N: z.number().default(defaultCost.N),
      r: z.number().default(defaultCost.r),
      p: z.number().default(defaultCost.p),
    })
    .refine(isAffordable, costBounds)
    .prefault({}),
  concurrency: wholeNumber(1, 64).default(2),
  waiting: wholeNumber(0, 10_000).default(64),
})

/**
 * Creates a provider that authenticates by user and password (RFC 7617, UTF-8): `httpBasic()`. Passwords
 * are stored as salted scrypt hashes of the built-in users, or checked by `verify`. Throws a TypeError
 * that lists every mistake in the options.
 */
export function httpBasic(options: HttpBasicOptions = {}): PasswordProvider {
  const { name, priority, enabled, realm, allowInsecureHttp, verify, ...work } = completeOptions(
    'httpBasic',
    shape,
    options,
  )
  const { hash, check } = passwordChecks(work)

  async function isCorrect(
    { user, password }: BasicCredentials,
    found: Account | undefined,
  ): Promise<boolean> {
    if (verify !== undefined) return isTrue(await verify(user, password))
    // Unknown and disabled users are checked too, so that the time of the response is the same.
    return check({ user, password, stored: found?.enabled ? found.password : null })
  }

  return Object.freeze({
    name,
    priority,
    enabled,
    type: 'http_basic_auth',
    challenge: `Basic realm="${realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`,
    allowInsecureHttp,
    keeps: Object.freeze(['users'] as const),
    hash,
    find: authorizationFinder('Basic'),
    async identify({ value }, context) {
      const given = decodeBasic(value)
      if (given === undefined) return malformed
      const found = await context.users.find(given.user)
      const isRight = await isCorrect(given, found)
      return isRight || !found?.enabled ? admitUser(found, name) : wrong(found)
    },
  } satisfies PasswordProvider)
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })

// `verify` may be JavaScript: other truthy values do not count.
function isTrue(result: unknown): boolean {
  return result === true
}

function wrong({ user }: Account): Rejected {
  return { rejected: 'unknown', user }
}

function wholeNumber(min: number, max: number) {
  return accepted<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    `must be a whole number, ${min} to ${max}`,
  )
}
