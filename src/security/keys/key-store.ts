import type { MaybePromise } from '../../maybe-promise.ts'
import type { RejectionReason } from '../../observation/reports.ts'
import type { ActorOption } from '../actor.ts'
import type { AuditFilter, ListPage } from '../audit-filter.ts'

/** The record of an API key, without the key. */
export interface KeyRecord {
  readonly keyId: string
  /** The first characters of the key, which help to distinguish keys. */
  readonly start: string
  /** The identifier of its provider. */
  readonly provider: string
  readonly user: string
  readonly description: string | null
  /** An instant, like all times of the record: `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
  readonly created: string
  /** The key is inactive from this instant on; null: it does not expire. */
  readonly expires: string | null
  readonly revoked: string | null
  readonly firstUsed: string | null
  /** Accurate to a minute. */
  readonly lastUsed: string | null
}

/** Finds keys by their hash, and records their use in the background. */
export interface KeyLookup {
  find(hash: string): MaybePromise<KeyRecord | undefined>
  /** Records that a key was used. */
  used(key: KeyRecord): void
  /** Records that a key was rejected. */
  rejected(key: KeyRecord, reason: RejectionReason): void
}

/** A key to create. */
export interface KeyRequest {
  /** The user of the key. The user must exist. */
  readonly user: string
  /** The name or identifier of the provider. Default: the only API key provider of the service, or the only enabled one. */
  readonly provider?: string
  /** At most 200 characters. Default: none. */
  readonly description?: string
  /** The lifetime in minutes. Default: the provider's `defaultExpiry`. */
  readonly expiresIn?: number
}

/** A key with a chosen text, for development. */
export interface ChosenKey extends KeyRequest {
  /** At least 16 random bytes in base64url; from an environment variable, never from the code. */
  readonly key: string | undefined
}

/** A new key. Only this object contains its text. */
export interface NewKey extends KeyRecord {
  /** The plain key. Not enumerable: printing or serializing the object does not show it. */
  readonly key: string
}

/** The options of a rotation. */
export interface Rotation {
  /** The minutes for which the old key stays active. Default 0: it is revoked now. */
  readonly overlap?: number
  /** The lifetime of the new key in minutes. Default: the provider's `defaultExpiry`. */
  readonly expiresIn?: number
  /** At most 200 characters; an empty string or null: none. Default: the description of the old key. */
  readonly description?: string | null
}

/** Changes of a key. Absent members stay as they are. */
export interface KeyChanges {
  /** At most 200 characters; an empty string or null: none. */
  readonly description?: string | null
  /** An instant, such as `2026-12-31T00:00:00Z`, earlier than the expiry that the key has: to extend a key, rotate it. */
  readonly expires?: string
}

/** An event in the audit trail of keys. */
export interface KeyEvent {
  /** An instant. */
  readonly at: string
  readonly event: 'created' | 'first-used' | 'rejected' | 'rotated' | 'revoked' | 'changed'
  readonly keyId: string
  readonly user: string
  /** The identifier of the provider. */
  readonly provider: string
  /** The reason of a rejection, or the identifier of the new key after a rotation; else null. */
  readonly reason: string | null
  /** The number of occurrences: rejections for the same reason are counted together for a minute. */
  readonly times: number
  /** Who made the change: the user of a principal, or a name. Null: application code, or the service itself. */
  readonly actor: string | null
  /** The identifier of the key with which the actor made the change, if any. */
  readonly actorKey: string | null
  /** The names of what `changed`: `description`, `expires`. */
  readonly changed: readonly string[]
}

/** The API keys of a service. The methods reject with a TypeError for invalid arguments. */
export interface Keyring {
  /** The API key providers of the service, in the order of their priority. */
  readonly providers: readonly {
    readonly name: string
    readonly identifier: string
    /** Whether its keys are accepted. */
    readonly enabled: boolean
  }[]
  /** Creates a key. Rejects with a TypeError for an unknown user or provider, or an invalid lifetime. */
  create(request: KeyRequest, by?: ActorOption): Promise<NewKey>
  /**
   * Stores the hash of a chosen key unless it exists, for development. An existing key stays unchanged,
   * even if it is revoked or expired. Rejects with a TypeError for a key that is missing, malformed or not
   * random, or that belongs to another user.
   */
  ensure(request: ChosenKey, by?: ActorOption): Promise<KeyRecord>
  /** Returns the records of keys, inactive ones too, the oldest first: all of them, or a page. */
  list(
    filter?: ListPage & {
      readonly user?: string | undefined
      readonly provider?: string | undefined
    },
  ): Promise<readonly KeyRecord[]>
  /**
   * Changes the description of a key, or lets it expire earlier. Rejects with a TypeError for a key that is revoked or has
   * expired, and for a later expiry.
   */
  change(keyId: string, changes: KeyChanges, by?: ActorOption): Promise<KeyRecord>
  /** Revokes a key and keeps its record. A revoked key stays unchanged. */
  revoke(keyId: string, by?: ActorOption): Promise<KeyRecord>
  /** Creates a new key for the same user and provider. Rejects with a TypeError if the old one is inactive. */
  rotate(keyId: string, rotation?: Rotation, by?: ActorOption): Promise<NewKey>
  /** Returns the audit trail of keys, the oldest event first: all of it, or a page. */
  audit(
    filter?: AuditFilter & { readonly keyId?: string | undefined },
  ): Promise<readonly KeyEvent[]>
}
