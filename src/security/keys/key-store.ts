import type { MaybePromise } from '../../maybe-promise.ts'
import type { RejectionReason } from '../../observation.ts'

/** What is kept about an API key (section 2.6): everything but the key. */
export interface KeyRecord {
  readonly keyId: string
  /** The first characters of the key, to tell keys apart. */
  readonly start: string
  /** The identifier of the provider that it belongs to. */
  readonly provider: string
  readonly user: string
  readonly description: string | null
  /** An instant, as all times here: `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
  readonly created: string
  /** The key is dead from this instant on (D41); null: it does not expire. */
  readonly expires: string | null
  readonly revoked: string | null
  readonly firstUsed: string | null
  /** Exact to a minute. */
  readonly lastUsed: string | null
}

/** Finds keys by their hash, and takes note of what becomes of them, off the path of the request. */
export interface KeyLookup {
  find(hash: string): MaybePromise<KeyRecord | undefined>
  /** The key was used. */
  used(key: KeyRecord): void
  /** The key was rejected. */
  rejected(key: KeyRecord, reason: RejectionReason): void
}

/** A key to be created (section 5). */
export interface KeyRequest {
  /** The user that the key acts for. It has to exist. */
  readonly user: string
  /** The name or identifier of the provider. Default: the only API key provider of the service. */
  readonly provider?: string
  /** At most 200 characters. Default: none. */
  readonly description?: string
  /** Minutes. Default: the provider's Default Expiry (D41). */
  readonly expiresIn?: number
}

/** A key that the developer chose, for development. */
export interface ChosenKey extends KeyRequest {
  /** At least 16 random bytes in base64url; from an environment variable, never from the code. */
  readonly key: string | undefined
}

/** A key that has just been made, with the one sight of its text there will ever be. */
export interface NewKey extends KeyRecord {
  /** The plain key. Not enumerable: printing or serializing the object does not show it. */
  readonly key: string
}

/** How a key is rotated (D42). */
export interface Rotation {
  /** Minutes for which the old key stays good. Default 0: it dies now. */
  readonly overlap?: number
  /** Minutes that the new key lives. Default: the provider's Default Expiry. */
  readonly expiresIn?: number
}

/** Something that happened to a key. */
export interface KeyEvent {
  /** An instant. */
  readonly at: string
  readonly event: 'created' | 'first-used' | 'rejected' | 'rotated' | 'revoked'
  readonly keyId: string
  readonly user: string
  /** The identifier of the provider. */
  readonly provider: string
  /** Why it was rejected; the identifier of the new key when it was rotated; else null. */
  readonly reason: string | null
  /** How often: rejections of one kind are counted together for a minute. */
  readonly times: number
}

/** The API keys of a service. Every method throws a TypeError for what can't be done. */
export interface Keyring {
  /** The API key providers of the service, in their order (D43). */
  readonly providers: readonly { readonly name: string; readonly identifier: string }[]
  /** Throws a TypeError for an unknown user or provider and for a lifetime that is not allowed (D41). */
  create(request: KeyRequest): Promise<NewKey>
  /**
   * For development: stores the hash of a chosen key, unless it is stored already. A key that is there
   * stays as it is, also when it has been revoked or has expired. Throws a TypeError for a key that is
   * missing, malformed or not random, and for one of another user.
   */
  ensure(request: ChosenKey): Promise<KeyRecord>
  /** Keys on record, dead ones too, the oldest first. */
  list(filter?: {
    readonly user?: string
    readonly provider?: string
  }): Promise<readonly KeyRecord[]>
  /** Ends a key; it stays on record. A second time changes nothing. */
  revoke(keyId: string): Promise<KeyRecord>
  /** Makes a new key for the same user, provider and description. Throws a TypeError for a dead key. */
  rotate(keyId: string, rotation?: Rotation): Promise<NewKey>
  /** What happened, the oldest first. */
  audit(filter?: { readonly keyId?: string; readonly user?: string }): Promise<readonly KeyEvent[]>
}
