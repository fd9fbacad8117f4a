import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { Principal } from '../../definition/principal.ts'
import type { RejectionReason } from '../../observation/reports.ts'
import { completeRecord, type ApiKeyOptions, type ApiKeyRecord } from './api-key-record.ts'
import { callerCache } from './caller-cache.ts'
import { apiKeyFinder } from './find-api-key.ts'
import { isKeyText } from './key-form.ts'
import { inactiveReason } from './key-lifetime.ts'
import type { KeyRecord } from './key-store.ts'
import { mintKey, sha256 } from './key-text.ts'
import type { KeyProvider, Rejected, SecurityContext } from '../provider.ts'
import { admitUser } from '../users/admit-user.ts'
import type { User } from '../users/user-store.ts'

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
  const cache = callerCache()

  function identifyOwner(
    key: KeyRecord | undefined,
    attempt: Attempt,
  ): MaybePromise<Principal | Rejected> {
    const { context } = attempt
    if (key?.provider !== identifier) return unknown
    const reason = enabled ? inactiveReason(key, context.now()) : 'provider-disabled'
    if (reason !== undefined) return reject(key, reason, context)
    return whenDone(context.users.find(key.user), (owner) => admit(key, owner, attempt))
  }

  function admit(key: KeyRecord, owner: User | undefined, attempt: Attempt): Principal | Rejected {
    const { context, hash, version } = attempt
    const admitted = admitUser(owner, name, key.keyId)
    if ('rejected' in admitted) return reject(key, admitted.rejected, context)
    context.keys.used(key)
    if (version !== undefined) cache.set(context, hash, { version, key, principal: admitted })
    return admitted
  }

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
    identify({ value }, context) {
      if (!isKeyText(value)) return malformed
      const hash = sha256(value)
      // Read before the key and the user, so that a change in between gives another version.
      const version = context.version?.()
      const known = cache.get(context, hash, version)
      if (known !== undefined && inactiveReason(known.key, context.now()) === undefined) {
        context.keys.used(known.key)
        return known.principal
      }
      const attempt = { context, hash, version }
      return whenDone(context.keys.find(hash), (key) => identifyOwner(key, attempt))
    },
    mint(chosen) {
      const key = chosen ?? mintKey(record.length)
      return { key, hash: sha256(key) }
    },
  } satisfies ApiKeyProvider)
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
  return { ...record, enabled: false, identifier: crypto.randomUUID() }
}
