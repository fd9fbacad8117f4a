import * as z from 'zod/mini'
import { isUuid } from '../../definition/field-type.ts'
import { orderedId } from '../../definition/ordered-id.ts'
import { accepted, checkCall, line, minutes } from '../check-call.ts'
import { readAll, securityCollections } from '../collections.ts'
import { actOf, within, type Act } from '../actor.ts'
import { auditMembers, pageMembers } from '../audit-filter.ts'
import { readKeyEvents, recordKeyEvent } from '../audit.ts'
import { changeKey, changesShape, requireChosenKey, storeMissingKey } from './key-changes.ts'
import { expiryOf, instantOf } from './key-lifetime.ts'
import { findKey, keyRecord, newKey, rowOf, storedKey, type StoredKey } from './key-row.ts'
import { findRotated, retireKey, revokeKey, type Moment, type Retire } from './key-changes.ts'
import type {
  ChosenKey,
  KeyChanges,
  KeyEvent,
  Keyring,
  KeyRecord,
  KeyRequest,
  NewKey,
  Rotation,
} from './key-store.ts'
import { defaultKeyProvider, type KeyProvider, type KeyringOptions } from '../provider.ts'
import type { StorageReader, StorageTransaction } from '../../storage/adapter.ts'
import { table, tableReader } from '../../storage/table.ts'
import { missingUser } from '../users/missing-user.ts'

const { keys, users: builtInUsers } = securityCollections
const writing = { mode: 'write', brief: true, priority: 'high' } as const
const visibleStart = 4

const name = accepted<string>(
  (value) => typeof value === 'string' && value !== '',
  'must be a non-empty string',
)
const identifier = accepted<string>(
  (value) => typeof value === 'string' && value !== '',
  'must be the identifier of a key, as returned by list',
)
const requestShape = z.strictObject({
  user: name,
  provider: z.optional(name),
  description: z.optional(line(0, 200)),
  expiresIn: z.optional(minutes(1)),
})
const chosenShape = z.extend(requestShape, { key: z.optional(accepted<unknown>(() => true, '')) })
const rotationShape = z.strictObject({
  overlap: z._default(minutes(0), 0),
  description: z.nullish(line(0, 200)),
  expiresIn: z.optional(minutes(1)),
})
const listShape = z.strictObject({
  ...pageMembers,
  user: z.optional(name),
  provider: z.optional(name),
})
const auditShape = z.strictObject({ ...auditMembers, keyId: z.optional(identifier) })

/**
 * Creates the keyring of a service over its storage. Keys are stored as hashes; only `create` and `rotate`
 * return the text of a key.
 */
export function createKeyring(options: KeyringOptions): Keyring {
  const keyring = new StorageKeyring(options)
  return Object.freeze<Keyring>({
    providers: options.providers.map(({ name, identifier, enabled = true }) => ({
      name,
      identifier,
      enabled,
    })),
    create: async (request, by) => keyring.create(request, actOf('keys.create', by)),
    ensure: async (request, by) => keyring.ensure(request, actOf('keys.ensure', by)),
    list: (filter) => keyring.list(filter),
    change: async (keyId, changes, by) => keyring.change(keyId, changes, actOf('keys.change', by)),
    revoke: async (keyId, by) => keyring.revoke(keyId, actOf('keys.revoke', by)),
    rotate: async (keyId, rotation, by) =>
      keyring.rotate(keyId, rotation, actOf('keys.rotate', by)),
    audit: (filter) => keyring.audit(filter),
  })
}

class StorageKeyring {
  readonly #options: KeyringOptions

  constructor(options: KeyringOptions) {
    this.#options = options
  }

  async #requireUser(user: string, place: string): Promise<void> {
    if ((await this.#options.users.find(user)) === undefined) throw missingUser(place, user)
  }

  // The removal of a user revokes the existing keys only, so no key may be stored after it.
  async #requireStored(transaction: StorageReader, user: string): Promise<void> {
    if (!this.#options.keepsUsers) return
    const row = await tableReader(transaction, builtInUsers).one({ user })
    if (row === undefined) throw missingUser('keys.create.user', user)
  }

  async create(request: KeyRequest, by: Act): Promise<NewKey> {
    const call = 'keys.create'
    const given = checkCall(call, requestShape, request)
    const provider = chooseProvider(this.#options.providers, given.provider, call)
    const at = this.#options.now()
    const expires = expiryOf(provider, given.expiresIn, at, call)
    await this.#requireUser(given.user, `${call}.user`)
    const description = given.description === '' ? null : (given.description ?? null)
    const made = makeKey(provider.mint(), provider, at, {
      user: given.user,
      description,
      expires,
    })
    await this.#options.storage.transaction(writing, async (transaction) => {
      await this.#requireStored(transaction, given.user)
      await this.#store(transaction, made.stored, { at, by })
    })
    return made.key
  }

  async #store(
    transaction: StorageTransaction,
    stored: StoredKey,
    { at, by, retire }: Moment & { readonly retire?: Retire },
  ) {
    await within(by, transaction, async () => {
      await retire?.(transaction, stored.keyId)
      const row = await table(transaction, keys).insert({ ...stored, purpose: by.purpose ?? null })
      await recordKeyEvent(transaction, stored, { event: 'created', by }, at)
      return row
    })
  }

  async ensure(request: ChosenKey, by: Act): Promise<KeyRecord> {
    const call = 'keys.ensure'
    const { key: chosen, ...given } = checkCall(call, chosenShape, request)
    const key = requireChosenKey(chosen)
    const provider = chooseProvider(this.#options.providers, given.provider, call)
    const at = this.#options.now()
    const expires = expiryOf(provider, given.expiresIn, at, call)
    await this.#requireUser(given.user, `${call}.user`)
    const description = given.description === '' ? null : (given.description ?? null)
    const made = makeKey(provider.mint(key), provider, at, {
      user: given.user,
      description,
      expires,
    })
    return this.#options.storage.transaction(writing, async (transaction) => {
      await this.#requireStored(transaction, given.user)
      return keyRecord(await storeMissingKey(transaction, made.stored, { at, by }))
    })
  }

  async list(filter: Parameters<Keyring['list']>[0] = {}): Promise<readonly KeyRecord[]> {
    const given = checkCall('keys.list', listShape, filter)
    const where = {
      ...(given.user !== undefined && { user: given.user }),
      ...(given.provider !== undefined && {
        provider: identifierOf(this.#options.providers, given.provider),
      }),
    }
    const { limit = Infinity, offset = 0 } = given
    const sort = ['created', 'keyId', 'hash']
    const rows = await readAll(this.#options.storage, keys, where, { sort, limit, offset })
    return Object.freeze(rows.map((row) => keyRecord(storedKey(row))))
  }

  async change(keyId: string, changes: KeyChanges, by: Act): Promise<KeyRecord> {
    checkCall('keys.change', identifier, keyId)
    const given = checkCall('keys.change', changesShape, changes)
    const change = (transaction: StorageTransaction, key: StoredKey) =>
      changeKey(transaction, key, given, { at: this.#options.now(), by })
    return this.#changeStored('keys.change', { keyId, by }, change)
  }

  async revoke(keyId: string, by: Act): Promise<KeyRecord> {
    checkCall('keys.revoke', identifier, keyId)
    const revoke = (transaction: StorageTransaction, key: StoredKey) =>
      revokeKey(transaction, key, { at: this.#options.now(), by })
    return this.#changeStored('keys.revoke', { keyId, by }, revoke)
  }

  #changeStored(
    call: string,
    { keyId, by }: { readonly keyId: string; readonly by: Act },
    change: (transaction: StorageTransaction, key: StoredKey) => Promise<StoredKey>,
  ): Promise<KeyRecord> {
    return this.#options.storage.transaction(writing, async (transaction) => {
      const changed = await within(by, transaction, async () => {
        const key = await findKey(transaction, keyId)
        if (key === undefined) throw unknownKey(call)
        return rowOf(await change(transaction, key))
      })
      return keyRecord(storedKey(changed))
    })
  }

  async rotate(keyId: string, rotation: Rotation = {}, by: Act): Promise<NewKey> {
    const call = 'keys.rotate'
    checkCall(call, identifier, keyId)
    const given = checkCall(call, rotationShape, rotation)
    const { overlap, expiresIn } = given
    const seen = await findRotated(this.#options.storage, keyId)
    if (seen === undefined) throw unknownKey(call)
    const provider = this.#options.providers.find((one) => one.identifier === seen.provider)
    if (provider === undefined) {
      throw new TypeError(`${call}: the service has no provider for this key; add it again`)
    }
    const at = this.#options.now()
    const retire = retireKey(seen, { overlap, at, by })
    const { user } = seen
    const { description: wanted = seen.description } = given
    const description = wanted === '' ? null : wanted
    const expires = expiryOf(provider, expiresIn, at, call)
    await this.#requireUser(user, `${call}.user`)
    const made = makeKey(provider.mint(), provider, at, { user, description, expires })
    await this.#options.storage.transaction(writing, async (transaction) => {
      await this.#store(transaction, made.stored, { at, by, retire })
    })
    return made.key
  }

  async audit(filter: Parameters<Keyring['audit']>[0] = {}): Promise<readonly KeyEvent[]> {
    return readKeyEvents(this.#options.storage, checkCall('keys.audit', auditShape, filter))
  }
}

interface MadeKey {
  readonly stored: StoredKey
  readonly key: NewKey
}

function makeKey(
  { key: text, hash }: { readonly key: string; readonly hash: string },
  provider: KeyProvider,
  at: Date,
  rest: Pick<KeyRecord, 'user' | 'description' | 'expires'>,
): MadeKey {
  const stored = {
    hash,
    keyId: orderedId(at),
    start: text.slice(0, visibleStart),
    provider: provider.identifier,
    ...rest,
    created: instantOf(at),
    revoked: null,
    firstUsed: null,
    lastUsed: null,
  }
  return { stored, key: newKey(stored, text) }
}

function chooseProvider(
  providers: readonly KeyProvider[],
  wanted: string | undefined,
  call: string,
): KeyProvider {
  const [found, another] = wanted === undefined ? [] : named(providers, wanted)
  const chosen = wanted === undefined ? defaultKeyProvider(providers) : found
  if (chosen !== undefined && another === undefined) return chosen
  throw new TypeError(`${call}.provider must be one of ${choices(providers)}`)
}

function identifierOf(providers: readonly KeyProvider[], wanted: string): string {
  const [found] = named(providers, wanted)
  if (found !== undefined) return found.identifier
  // The keys of a provider that was removed from the service are still listed.
  if (isUuid(wanted)) return wanted.toLowerCase()
  throw new TypeError(`keys.list.provider must be an identifier or one of ${choices(providers)}`)
}

function named(providers: readonly KeyProvider[], wanted: string): readonly KeyProvider[] {
  const byIdentifier = providers.filter((one) => one.identifier === wanted.toLowerCase())
  return byIdentifier.length > 0 ? byIdentifier : providers.filter((one) => one.name === wanted)
}

function choices(providers: readonly KeyProvider[]): string {
  return providers.map((one) => `${one.name} (${one.identifier})`).join(', ')
}

function unknownKey(call: string): TypeError {
  return new TypeError(`${call}: no key has this identifier; call list to see them`)
}
