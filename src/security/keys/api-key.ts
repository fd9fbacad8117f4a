import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { Principal } from '../../definition/principal.ts'
import type { RejectionReason } from '../../observation/reports.ts'
import { runtime } from '../../runtime.ts'
import {
  completeRecord,
  type ApiKeyOptions,
  type ApiKeyRecord,
  type ApiKeyProperties,
} from './api-key-record.ts'
import { isKeyText } from './key-form.ts'
import { inactiveReason } from './key-lifetime.ts'
import type { KeyRecord } from './key-store.ts'
import { mintKey, sha256 } from './key-text.ts'
import { createKeyring } from './keyring.ts'
import {
  keyringFactory,
  type Credential,
  type KeyProvider,
  type Rejected,
  type SecurityContext,
  type WithKeyring,
} from '../provider.ts'
import { countByUser } from '../limiting.ts'
import { admitUser } from '../users/admit-user.ts'
import type { User } from '../users/user-store.ts'
import { keepLatest } from '../../keep-latest.ts'
import type { Credentials } from '../../request/request.ts'
import { trimBlanks } from '../../protocol/blanks.ts'
import { decodeFormPercent } from '../../protocol/percent.ts'
import { multipleCredentials } from '../rejection.ts'

/** An API key provider. */
export interface ApiKeyProvider extends KeyProvider {
  /** Its configuration record, complete and frozen. */
  readonly record: ApiKeyRecord
}

/**
 * Creates a provider that authenticates by API keys: `apiKeys({ name: 'API Key' })`. `service.keys` creates
 * the keys. Throws a TypeError that lists every mistake in the options.
 */
export function apiKeys(options: ApiKeyOptions): ApiKeyProvider {
  const record = completeRecord(options, 'apiKeys')
  const { name, priority, enabled, identifier, properties } = record
  const authentication = new KeyAuthentication(record)
  return Object.freeze({
    record,
    name,
    priority,
    enabled,
    identifier,
    type: 'api_key',
    challenge: `ApiKey header="${properties.HttpHeaderName}"`,
    allowInsecureHttp: properties.AllowInsecureHttp,
    parameters: Object.freeze(
      properties.AllowApiKeyInQueryString ? [properties.QueryStringParameterName] : [],
    ),
    hiddenParameters: Object.freeze([
      properties.QueryStringParameterName,
      properties.HttpHeaderName,
    ]),
    keeps: Object.freeze(['keys', 'users'] as const),
    defaultExpiry: record.defaultExpiry ?? record.maxExpiry,
    maxExpiry: record.maxExpiry,
    find: apiKeyFinder(properties),
    identify: (credential, context) => authentication.identify(credential, context),
    [keyringFactory]: createKeyring,
    mint(chosen) {
      const key = chosen ?? mintKey(record.length)
      return { key, hash: sha256(key) }
    },
  } satisfies ApiKeyProvider & WithKeyring)
}

class KeyAuthentication {
  readonly #record: ApiKeyRecord
  readonly #cache = callerCache()

  constructor(record: ApiKeyRecord) {
    this.#record = record
  }

  identify({ value }: Credential, context: SecurityContext): MaybePromise<Principal | Rejected> {
    if (!isKeyText(value)) return malformed
    const hash = sha256(value)
    // Read before the key and the user, so that a change in between gives another version.
    const version = context.version?.()
    const known = this.#cache.get(context, hash, version)
    if (known !== undefined && inactiveReason(known.key, context.now()) === undefined) {
      context.keys.used(known.key)
      return known.principal
    }
    const attempt = { context, hash, version }
    return whenDone(context.keys.find(hash), (key) => this.#identifyOwner(key, attempt))
  }

  #identifyOwner(key: KeyRecord | undefined, attempt: Attempt): MaybePromise<Principal | Rejected> {
    const { context } = attempt
    if (key?.provider !== this.#record.identifier) return unknown
    const reason = this.#record.enabled ? inactiveReason(key, context.now()) : 'provider-disabled'
    if (reason !== undefined) return reject(key, reason, context)
    return whenDone(context.users.find(key.user), (owner) => this.#admit(key, owner, attempt))
  }

  #admit(key: KeyRecord, owner: User | undefined, attempt: Attempt): Principal | Rejected {
    const { context, hash, version } = attempt
    const admitted = admitUser(owner, this.#record.name, key.keyId)
    if ('rejected' in admitted) return reject(key, admitted.rejected, context)
    const { purpose } = key as KeyRecord & { readonly purpose?: unknown }
    if (purpose === 'session') countByUser(admitted)
    context.keys.used(key)
    if (version !== undefined) this.#cache.set(context, hash, { version, key, principal: admitted })
    return admitted
  }
}

/** What identifies the caller of one request. */
interface Attempt {
  readonly context: SecurityContext
  readonly hash: string
  readonly version: string | number | undefined
}

const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
const unknown: Rejected = Object.freeze({ rejected: 'unknown' })

function reject(key: KeyRecord, rejected: RejectionReason, context: SecurityContext): Rejected {
  context.keys.rejected(key, rejected)
  return { rejected, user: key.user, keyId: key.keyId }
}

/** Returns the configuration record of a provider, to be stored as JSON. It contains no keys. */
export function exportProvider({ record }: ApiKeyProvider): ApiKeyRecord {
  return { ...completeRecord(record, 'exportProvider'), properties: { ...record.properties } }
}

/**
 * Returns the options of an exported provider, for `apiKeys`. They have a new identifier and are disabled:
 * review them, store the identifier with them, and enable the provider. Throws a TypeError that lists
 * every mistake.
 */
export function importProvider(json: unknown): ApiKeyOptions & ApiKeyRecord {
  const record = completeRecord(json, 'importProvider')
  return { ...record, enabled: false, identifier: runtime.randomUUID() }
}

/** A caller, with the version of storage in which the caller was found. */
interface CachedCaller {
  readonly version: string | number
  readonly key: KeyRecord
  readonly principal: Principal
}

/** Caches callers by the hash of their key, separately for each context. */
interface CallerCache {
  /** Returns the caller if storage still has the version in which the caller was found. */
  get(
    context: SecurityContext,
    hash: string,
    version: string | number | undefined,
  ): CachedCaller | undefined
  /** Stores a caller that was found after the version of storage was read. */
  set(context: SecurityContext, hash: string, caller: CachedCaller): void
}

const maxCached = 10_000

/**
 * Caches callers while nothing in storage changes. A changed role, key or user takes effect on the next
 * request, even if another process changed it.
 */
export function callerCache(): CallerCache {
  const caches = new WeakMap<SecurityContext, Map<string, CachedCaller>>()
  return {
    get(context, hash, version) {
      const known = caches.get(context)?.get(hash)
      return known?.version === version ? known : undefined
    },
    set(context, hash, caller) {
      let callers = caches.get(context)
      if (callers === undefined) {
        callers = new Map<string, CachedCaller>()
        caches.set(context, callers)
      }
      keepLatest(callers, hash, caller, maxCached)
    },
  }
}

/**
 * Returns a function that finds an API key in the header, and in the query if that is allowed, by the names
 * in the provider's properties. That function throws MULTIPLE_CREDENTIALS for more than one key.
 */
function apiKeyFinder(
  properties: ApiKeyProperties,
): (request: Credentials) => Credential | undefined {
  const header = properties.HttpHeaderName.toLowerCase()
  const place = `header ${header}`
  const inHeader = (request: Credentials): Credential | undefined => {
    const value = request.header(header)
    if (value === undefined) return undefined
    // Repeated headers are joined by commas, which keys do not contain.
    if (value.includes(',')) throw multipleCredentials()
    return { place, value: trimBlanks(value) }
  }
  if (!properties.AllowApiKeyInQueryString) return inHeader

  const parameter = properties.QueryStringParameterName
  const parameterPlace = `query ${parameter}`
  return (request) => {
    const value = valueInQuery(request.target, parameter)
    const found = inHeader(request)
    if (value === undefined) return found
    if (found !== undefined) throw multipleCredentials()
    return { place: parameterPlace, value }
  }
}

function valueInQuery(target: string, parameter: string): string | undefined {
  const start = target.indexOf('?')
  if (start < 0) return undefined
  let found: string | undefined
  for (const pair of target.slice(start + 1).split('&')) {
    const end = `${pair}=`.indexOf('=')
    if (decodeFormPercent(pair.slice(0, end)) !== parameter) continue
    if (found !== undefined) throw multipleCredentials()
    const value = pair.slice(end + 1)
    // If decoding fails, the undecoded value contains a percent sign and is not a key either.
    found = decodeFormPercent(value) ?? value
  }
  return found
}
