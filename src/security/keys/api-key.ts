import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { Principal } from '../../definition/principal.ts'
import type { RefusalReason } from '../../observation.ts'
import { completeRecord, type ApiKeyOptions, type ApiKeyRecord } from './api-key-record.ts'
import { callerMemory } from './caller-memory.ts'
import { apiKeyFinder } from './find-api-key.ts'
import { isKeyText } from './key-form.ts'
import { deathOf } from './key-lifetime.ts'
import type { KeyRecord } from './key-store.ts'
import { mintKey, sha256 } from './key-text.ts'
import type { KeyProvider, Refused, SecurityHouse } from '../provider.ts'
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
  ): MaybePromise<Principal | Refused> {
    const { house } = search
    if (key?.provider !== identifier) return unknown
    const reason = enabled ? deathOf(key, house.now()) : 'provider-disabled'
    if (reason !== undefined) return refuse(key, reason, house)
    return whenDone(house.users.find(key.user), (owner) => admit(key, owner, search))
  }

  function admit(key: KeyRecord, owner: User | undefined, search: Search): Principal | Refused {
    const { house, hash, version } = search
    const admitted = admitUser(owner, name, key.keyId)
    if ('refused' in admitted) return refuse(key, admitted.refused, house)
    house.keys.used(key)
    if (version !== undefined) memory.remember(house, hash, { version, key, principal: admitted })
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
    identify({ value }, house) {
      if (!isKeyText(value)) return malformed
      const hash = sha256(value)
      // Told before anything is looked up: what changes meanwhile makes it another version.
      const version = house.version?.()
      const known = memory.recall(house, hash, version)
      if (known !== undefined && deathOf(known.key, house.now()) === undefined) {
        house.keys.used(known.key)
        return known.principal
      }
      const search = { house, hash, version }
      return whenDone(house.keys.find(hash), (key) => identifyOwner(key, search))
    },
    mint(chosen) {
      const key = chosen ?? mintKey(record.length)
      return { key, hash: sha256(key) }
    },
  } satisfies ApiKeyProvider)
}

/** One look-up of a caller. */
interface Search {
  readonly house: SecurityHouse
  readonly hash: string
  readonly version: string | number | undefined
}

const malformed: Refused = Object.freeze({ refused: 'malformed' })
const unknown: Refused = Object.freeze({ refused: 'unknown' })

function refuse(key: KeyRecord, refused: RefusalReason, house: SecurityHouse): Refused {
  house.keys.refused(key, refused)
  return { refused, user: key.user, keyId: key.keyId }
}
