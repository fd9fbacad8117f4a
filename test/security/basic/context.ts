import type { Credentials } from '../../../src/request/request.ts'
import type { SecurityContext } from '../../../src/security/provider.ts'
import type { Account } from '../../../src/security/users/user-store.ts'

/** The users of a host that keeps them in a map. */
export type People = Map<string, Account>

/** A user of a case. */
export function person(user: string, rest: Partial<Account> = {}): Account {
  return { user, enabled: true, roles: [], attributes: {}, password: null, ...rest }
}

/** A map of users by name. */
export function people(...accounts: readonly Account[]): People {
  return new Map(accounts.map((account) => [account.user, account]))
}

/** What a provider may use: these users, no keys, and this clock. */
export function contextOf(users: People, now: () => Date = () => new Date()): SecurityContext {
  const keys = { find: () => undefined, used: () => undefined, rejected: () => undefined }
  return { keys, users: { find: (user) => users.get(user) }, now }
}

/** A request with an `Authorization` header, or without one. */
export function requestWith(authorization?: string): Credentials {
  return {
    target: '/rest/v1/app/tasks',
    header: (name) => (name === 'authorization' ? authorization : undefined),
    secure: true,
    peer: '127.0.0.1',
  }
}
