import type { MaybePromise } from '../../maybe-promise.ts'
import { z } from 'zod'
import { completeOptions } from '../../definition/options.ts'
import { admitUser } from '../users/admit-user.ts'
import { decodeBasic, type BasicCredentials } from './basic-credentials.ts'
import { accepted, flag, line, priority } from '../check-call.ts'
import { authorizationFinder } from '../find-authorization.ts'
import { passwordChecks } from './password-checks.ts'
import { costBounds, defaultCost, isAffordable, type PasswordCost } from './password.ts'
import type { PasswordProvider, Rejected } from '../provider.ts'
import type { Account } from '../users/user-store.ts'

/** What an HTTP Basic provider is made of. */
export interface HttpBasicOptions {
  /** Default `HTTP Basic`. */
  readonly name?: string
  /** A whole number, unique in a service (D43). Default 60. */
  readonly priority?: number
  /** Default true. */
  readonly enabled?: boolean
  /** What the password is for, as a browser shows it: 1 to 200 ASCII characters. Default `rowgate`. */
  readonly realm?: string
  /** Whether passwords over plain HTTP are accepted (D26). Default false. */
  readonly allowInsecureHttp?: boolean
  /**
   * The host's own check, instead of the stored hash. It is asked on every request, for users that do
   * not exist and with empty passwords too; the user has to exist and to be enabled all the same.
   */
  readonly verify?: (user: string, password: string) => MaybePromise<boolean>
  /** What new hashes cost; stored ones are checked at their own. Default: N 32768, r 8, p 3. */
  readonly cost?: Partial<PasswordCost>
  /** Hashes at the same time, 1 to 64: each takes a thread of Node's pool. Default 2. */
  readonly concurrency?: number
  /** Requests that may wait for a hash, 0 to 10000; the next one is answered with 503. Default 64. */
  readonly waiting?: number
}

const realmForm = /^[\x20-\x7e]{1,200}$/

const shape = z.strictObject({
  name: line(1, 200).default('HTTP Basic'),
  priority: priority.default(60),
  enabled: flag.default(true),
  realm: accepted<string>(
    (value) => typeof value === 'string' && realmForm.test(value),
    'must be a text of 1 to 200 printable ASCII characters',
  ).default('rowgate'),
  allowInsecureHttp: flag.default(false),
  verify: accepted<NonNullable<HttpBasicOptions['verify']>>(
    (value) => typeof value === 'function',
    'must be a function of a user and a password',
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
 * Authenticates by user and password (RFC 7617, UTF-8; D47): `httpBasic()`. Passwords are kept as
 * salted scrypt hashes in the users' own collection, or checked by the host. Throws a TypeError that
 * lists every mistake in the options.
 */
export function httpBasic(options: HttpBasicOptions = {}): PasswordProvider {
  const { name, priority, enabled, realm, allowInsecureHttp, verify, ...work } = completeOptions(
    'httpBasic',
    shape,
    options,
  )
  const { hash, check } = passwordChecks(work)

  async function isRight(
    { user, password }: BasicCredentials,
    found: Account | undefined,
  ): Promise<boolean> {
    if (verify !== undefined) return saysTrue(await verify(user, password))
    // Whoever may not ask is checked as well: an answer that came sooner would say so.
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
      const right = await isRight(given, found)
      return right || !found?.enabled ? admitUser(found, name) : wrong(found)
    },
  } satisfies PasswordProvider)
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })

// Code of the host: something truthy is not yet a yes.
function saysTrue(answer: unknown): boolean {
  return answer === true
}

function wrong({ user }: Account): Rejected {
  return { rejected: 'unknown', user }
}

function wholeNumber(least: number, most: number) {
  return accepted<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    `must be a whole number, ${least} to ${most}`,
  )
}
