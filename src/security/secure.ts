import { isThenable } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Report } from '../observation.ts'
import { absentKeyring, absentUsers } from './absent.ts'
import { securityCollections, type SecurityStorage } from './collections.ts'
import { openGate, type Gate } from './gate.ts'
import { tracedGate } from './traced-gate.ts'
import { createKeyLookup, type KeyLog } from './keys/key-log.ts'
import type { Keyring } from './keys/key-store.ts'
import { createKeyring } from './keys/keyring.ts'
import type { Limits } from './limiter.ts'
import { applyLimits } from './limiting.ts'
import { createUsers } from './users/own-users.ts'
import type {
  KeyProvider,
  OpenAccess,
  PasswordProvider,
  SecurityContext,
  SecurityProvider,
} from './provider.ts'
import { credentialsInQuery, type QueryCredentials } from './query.ts'
import type { Account, FindUser, User, UserLookup, Users } from './users/user-store.ts'

/** What the security of a service is made of. */
export interface SecurityParts {
  readonly security: readonly (SecurityProvider | OpenAccess)[]
  /** The host's own users; undefined: the library keeps them. */
  readonly users?: FindUser | undefined
  readonly limits: Limits
  readonly storage: SecurityStorage
  readonly now: () => Date
  readonly report: Report
  /** Does work off the path of the request. */
  readonly defer: (work: () => Promise<unknown>) => void
}

/** The security of a service, ready to be asked. */
export interface Security extends QueryCredentials {
  readonly gate: Gate
  readonly keys: Keyring
  readonly users: Users
  /** Writes down what was only counted so far. Never rejects. */
  readonly flush: () => Promise<void>
  /** What storage has to keep for it. */
  readonly collections: readonly PublishedCollection[]
}

/** Puts the security of a service together: its gate, its keyring and its users (section 5). */
export function secure(parts: SecurityParts): Security {
  const { storage, now, report, defer } = parts
  const providers = parts.security.filter(isProvider).toSorted(byPriority)
  const anyone = parts.security.find(isOpenAccess)?.anyone
  const keeps = new Set(providers.flatMap((provider) => provider.keeps ?? []))
  const keepsUsers = keeps.has('users') && parts.users === undefined
  const keyProviders = providers.filter(isKeyProvider)

  const own = createUsers({ storage, now, keepsKeys: keeps.has('keys'), ...passwordsOf(providers) })
  const users: UserLookup = keepsUsers ? own : hostUsers(parts.users)
  const keys = keeps.has('keys') ? createKeyLookup({ storage, now, report, defer }) : noKeys
  // Users of the host may change without storage noticing.
  const version = keepsUsers ? { version: () => storage.version?.() } : {}
  const context: SecurityContext = Object.freeze({ keys, users, now, ...version })
  const limiting = applyLimits(parts.limits, now, report)
  return {
    gate: tracedGate(openGate({ providers, anyone, context, limiting, report })),
    ...credentialsInQuery(providers),
    keys:
      keyProviders.length > 0
        ? createKeyring({ storage, providers: keyProviders, users, keepsUsers, now })
        : absentKeyring(),
    users: keepsUsers ? own : absentUsers(parts.users !== undefined),
    flush: () => keys.flush(),
    collections: [
      ...(keepsUsers ? [securityCollections.users] : []),
      ...(keeps.has('keys') ? [securityCollections.keys, securityCollections.keyEvents] : []),
    ],
  }
}

const noKeys: KeyLog = Object.freeze({
  find: () => undefined,
  used: () => undefined,
  rejected: () => undefined,
  flush: () => Promise.resolve(),
})

// What the host answers has no password of ours; it may be an object with getters, or null for nobody.
function withoutPassword(found: User | null | undefined): Account | undefined {
  if (found === undefined || found === null) return undefined
  const { user, enabled, roles, attributes } = found
  return { user, enabled, roles, attributes, password: null }
}

function hostUsers(find: FindUser | undefined): UserLookup {
  if (find === undefined) return { find: () => undefined }
  return {
    find: (user) => {
      const found = find(user)
      if (!isThenable(found)) return withoutPassword(found)
      return Promise.resolve(found).then(withoutPassword)
    },
  }
}

function passwordsOf(providers: readonly SecurityProvider[]) {
  const provider = providers.find(isPasswordProvider)
  return provider === undefined
    ? {}
    : { hashPassword: (password: string) => provider.hash(password) }
}

function byPriority(left: SecurityProvider, right: SecurityProvider): number {
  return left.priority - right.priority
}

function isOpenAccess(given: SecurityProvider | OpenAccess): given is OpenAccess {
  return 'anyone' in given
}

function isProvider(given: SecurityProvider | OpenAccess): given is SecurityProvider {
  return !isOpenAccess(given)
}

function isKeyProvider(provider: SecurityProvider): provider is KeyProvider {
  return provider.type === 'api_key' && 'mint' in provider
}

function isPasswordProvider(provider: SecurityProvider): provider is PasswordProvider {
  return provider.type === 'http_basic_auth' && 'hash' in provider
}
