import { cheapCost } from '../../kit/keys.ts'
import { httpBasic, type HttpBasicOptions } from '../../../src/security/basic/http-basic.ts'
import type {
  Credential,
  PasswordProvider,
  Rejected,
  SecurityContext,
} from '../../../src/security/provider.ts'
import type { Principal } from '../../../src/definition/principal.ts'

/** A provider with cheap hashes. */
export function provider(options: HttpBasicOptions = {}): PasswordProvider {
  return httpBasic({ cost: cheapCost, ...options })
}

/** The credential of a user and a password. */
export function basic(user: string, password: string): Credential {
  const value = Buffer.from(`${user}:${password}`).toString('base64')
  return { place: 'header authorization', value }
}

/** A provider whose only place for a hash can be taken. */
export interface Occupied {
  readonly given: PasswordProvider
  /** Whether a check needs a hash: then it is rejected, because the place is occupied. */
  needsHash(credential: Credential, context: SecurityContext): Promise<boolean>
}

/** A provider for one hash at a time, without a queue. */
export function occupied(): Occupied {
  const given = provider({ concurrency: 1, waiting: 0 })
  return {
    given,
    needsHash: async (credential, context) => {
      const hashing = given.hash('someone else')
      const answer = await settle(given.identify(credential, context))
      await hashing
      if (!('error' in answer)) return false
      if (isUnavailable(answer.error)) return true
      throw new Error('The answer failed otherwise.', { cause: answer.error })
    },
  }
}

/** A result, or the error instead. */
export interface Settled {
  readonly value?: Principal | Rejected | undefined
  readonly error?: unknown
}

/** Waits for a result without throwing. */
export async function settle(
  answer: Principal | Rejected | undefined | Promise<Principal | Rejected | undefined>,
): Promise<Settled> {
  try {
    return { value: await answer }
  } catch (error) {
    return { error }
  }
}

/** Whether an error is answered with 503. */
export function isUnavailable(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'UNAVAILABLE'
}
