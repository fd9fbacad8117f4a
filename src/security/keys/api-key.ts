import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { Principal } from '../../definition/principal.ts'
import type { RejectionReason } from '../../observation.ts'
import { completeRecord, type ApiKeyOptions, type ApiKeyRecord } from './api-key-record.ts'
import { callerMemory } from './caller-memory.ts'
import { apiKeyFinder } from './find-api-key.ts'
import { isKeyText } from './key-form.ts'
import { deathOf } from './key-lifetime.ts'
import type { KeyRecord } from './key-store.ts'
import { mintKey, sha256 } from './key-text.ts'
import type { KeyProvider, Rejected, SecurityContext } from '../provider.ts'
import { admitUser } from '../users/admit-user.ts'
import type { User } from '../users/user-store.ts'

/** An API key provider. */
export interface ApiKeyProvider extends KeyProvider {
  /** Its configuration record, complete and frozen (section 2.6). */
  readonly record: ApiKeyRecord
}

/**
 * Authenticates by API keys (sections 2.6 and 5): `apiKeys({ name: 'API Key' })`. Keys are made by
 * `service.keys`. Throws a TypeError that lists every mistake in the options.
 */
export function apiKeys(options: ApiKeyOptions): ApiKeyProvider {
  const record = completeRecord(options, 'apiKeys')
  const { name, priority, enabled, identifier, properties } = record
  const memory = callerMemory()

  function identifyOwner(
    key: KeyRecord | undefined,
    search: Search,
  ): MaybePromise<Principal | Rejected> {
    const { context } = search
    if (key?.provider !== identifier) return unknown
    const reason = enabled ? deathOf(key, context.now()) : 'provider-disabled'
    if (reason !== undefined) return reject(key, reason, context)
    return whenDone(context.users.find(key.user), (owner) => admit(key, owner, search))
  }

  function admit(key: KeyRecord, owner: User | undefined, search: Search): Principal | Rejected {
    const { context, hash, version } = search
    const admitted = admitUser(owner, name, key.keyId)
    if ('rejected' in admitted) return reject(key, admitted.rejected, context)
    context.keys.used(key)
    if (version !== undefined) memory.remember(context, hash, { version, key, principal: admitted })
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
      // Told before anything is looked up: what changes meanwhile makes it another version.
      const version = context.version?.()
      const known = memory.recall(context, hash, version)
      if (known !== undefined && deathOf(known.key, context.now()) === undefined) {
        context.keys.used(known.key)
        return known.principal
      }
      const search = { context, hash, version }
      return whenDone(context.keys.find(hash), (key) => identifyOwner(key, search))
    },
    mint(chosen) {
      const key = chosen ?? mintKey(record.length)
      return { key, hash: sha256(key) }
    },
  } satisfies ApiKeyProvider)
}

/** One look-up of a caller. */
interface Search {
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
