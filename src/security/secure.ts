import { isThenable, whenDone } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { stages, tracedClient, type Traces } from '../observation/channels.ts'
import type { Report } from '../observation/reports.ts'
import { securityCollections, type SecurityStorage } from './collections.ts'
import { createGate, type Gate } from './gate.ts'
import { createKeyLog, type KeyLog } from './keys/key-log.ts'
import type { Keyring } from './keys/key-store.ts'
import type { Limits } from './limiter.ts'
import { applyLimits } from './limiting.ts'
import { createUsers } from './users/own-users.ts'
import {
  isKeyProvider,
  isPasswordProvider,
  keyringFactory,
  type OpenAccess,
  type SecurityContext,
  type SecurityProvider,
} from './provider.ts'
import { credentialsInQuery, type QueryCredentials } from './query-credentials.ts'
import type { Account, FindUser, User, UserLookup, Users } from './users/user-store.ts'

/** What the security of a service needs. */
export interface SecurityOptions {
  readonly security: readonly (SecurityProvider | OpenAccess)[]
  /** The application's function for users; undefined: the users are built in. */
  readonly users?: FindUser | undefined
  readonly limits: Limits
  readonly storage: SecurityStorage
  readonly now: () => Date
  readonly report: Report
  /** Runs work in the background. */
  readonly defer: (work: () => Promise<unknown>) => void
}

/** The security of a service. */
export interface Security extends QueryCredentials {
  readonly gate: Gate
  readonly keys: Keyring
  readonly users: Users
  /** Finds the users, the built-in ones and those of the application. */
  readonly findUser: UserLookup['find']
  /** In the order of their priority. */
  readonly providers: readonly SecurityProvider[]
  /** Writes the pending counts of requests and rejections of keys. Never rejects. */
  readonly flush: () => Promise<void>
  /** The collections that storage has to open for it. */
  readonly collections: readonly PublishedCollection[]
}

/** Creates the security of a service: its gate, its keyring and its users. */
export function secure(options: SecurityOptions): Security {
  const { storage, now, report, defer } = options
  const providers = options.security.filter(isProvider).toSorted(byPriority)
  const anyone = options.security.find(isOpenAccess)?.anyone
  const keeps = new Set(providers.flatMap((provider) => provider.keeps ?? []))
  const keepsUsers = keeps.has('users') && options.users === undefined
  const keyProviders = providers.filter(isKeyProvider)

  const own = createUsers({ storage, now, keepsKeys: keeps.has('keys'), ...passwordsOf(providers) })
  const users: UserLookup = keepsUsers ? own : applicationUsers(options.users)
  const keys = keeps.has('keys') ? createKeyLog({ storage, now, report, defer }) : noKeys
  // Without built-in users, the storage's version does not show that a user has changed.
  const remembered = [securityCollections.users, securityCollections.keys]
  const version = keepsUsers ? { version: () => storage.version?.(remembered) } : {}
  const context: SecurityContext = Object.freeze({ keys, users, now, ...version })
  const limiting = applyLimits(options.limits, now, report)
  return {
    gate: tracedGate(createGate({ providers, anyone, context, limiting, report })),
    ...credentialsInQuery(providers),
    keys:
      keyProviders[0]?.[keyringFactory]({
        storage,
        providers: keyProviders,
        users,
        keepsUsers,
        now,
      }) ?? absentKeyring(),
    users: keepsUsers ? own : absentUsers(options.users !== undefined),
    findUser: (user) => users.find(user),
    providers,
    flush: () => keys.flush(),
    collections: [
      ...(keepsUsers ? [securityCollections.users] : []),
      ...(keeps.has('keys') ? [securityCollections.keys, securityCollections.requests] : []),
      ...(keepsUsers || keeps.has('keys') ? [securityCollections.events] : []),
    ],
  }
}

const noKeys: KeyLog = Object.freeze({
  find: () => undefined,
  used: () => undefined,
  rejected: () => undefined,
  flush: () => Promise.resolve(),
})

// Users of the application have no stored password. The members are copied because they may be getters.
function withoutPassword(found: User | null | undefined): Account | undefined {
  if (found === undefined || found === null) return undefined
  const { user, enabled, roles, attributes } = found
  return { user, enabled, roles, attributes, password: null }
}

function applicationUsers(find: FindUser | undefined): UserLookup {
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

function absentKeyring(): Keyring {
  const reject = rejecting(
    'This service has no API key provider. Add one to createService: security: [apiKeys({ name: "API Key" })].',
  )
  return Object.freeze({
    providers: [],
    create: reject,
    ensure: reject,
    list: reject,
    change: reject,
    revoke: reject,
    rotate: reject,
    audit: reject,
  })
}

function absentUsers(hasFunction: boolean): Users {
  const reject = rejecting(
    hasFunction
      ? 'The users of this service come from the option users of createService: change them in your application.'
      : 'This service has no built-in users, because none of its security providers needs them.',
  )
  return Object.freeze({
    add: reject,
    ensure: reject,
    get: reject,
    list: reject,
    change: reject,
    remove: reject,
    audit: reject,
  })
}

function rejecting(message: string): () => Promise<never> {
  return () => Promise.reject(new TypeError(message))
}

/** Returns a gate that traces each call on the channel `rowgate:security` while the channel has subscribers. */
function tracedGate(gate: Gate): Gate {
  return (request) => {
    if (!stages.security.isWatched) return gate(request)
    const trace: Traces['rowgate:security'] = {
      ...tracedClient(request),
      provider: null,
      user: null,
      keyId: null,
    }
    return stages.security.run(trace, () =>
      whenDone(gate(request), (principal) => {
        trace.provider = principal.provider
        trace.user = principal.user
        trace.keyId = principal.keyId
        return principal
      }),
    )
  }
}
