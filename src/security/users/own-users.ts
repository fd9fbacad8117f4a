import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import * as z from 'zod/mini'
import type { Attributes } from '../../definition/principal.ts'
import { isStorageError, type Row, type StorageTransaction } from '../../storage/adapter.ts'
import { table, tableReader, type TableReader } from '../../storage/table.ts'
import { actOf, within, type Act } from '../actor.ts'
import { auditMembers, pageMembers, type AuditFilter, type ListPage } from '../audit-filter.ts'
import { readUserEvents, recordUserEvent } from '../audit.ts'
import { accepted, checkCall, flag, line } from '../check-call.ts'
import { readAll, securityCollections, type SecurityStorage } from '../collections.ts'
import { instantOf } from '../keys/key-lifetime.ts'
import { revokeKeysOf, revokeSessionsOf } from '../keys/key-changes.ts'
import { isAttributes, isRoles, userReader } from './user-row.ts'
import { accountFields, changesBetween, changesOfNew, lockedUser } from './user-changes.ts'
import type {
  Account,
  NewUser,
  User,
  UserChanges,
  UserEvent,
  UserLookup,
  Users,
} from './user-store.ts'
import { missingUser } from './missing-user.ts'

/** What the built-in users need. */
export interface UsersOptions {
  readonly storage: SecurityStorage
  readonly now: () => Date
  /** Returns a salted hash of a password. Absent: users have no passwords. */
  readonly hashPassword?: (password: string) => Promise<string>
  /** Whether the storage has API keys, which are revoked when their user is removed. Default false. */
  readonly keepsKeys?: boolean
}

const { users } = securityCollections
const writing = { mode: 'write', brief: true, priority: 'high' } as const

const userName = line(1, 200)
const roles = accepted<readonly string[]>(isRoles, 'must be a list of distinct, non-empty strings')
const attributes = accepted<Attributes>(
  isAttributes,
  'must be an object whose values are strings, finite numbers, booleans or null, and whose names Object.prototype does not have',
)
const password = accepted<string>(
  (value) => typeof value === 'string' && value !== '' && value.isWellFormed(),
  'must be a non-empty string',
)
const newUserShape = z.strictObject({
  user: userName,
  enabled: z._default(flag, true),
  roles: z._default(roles, []),
  attributes: z._default(attributes, {}),
  password: z.optional(password),
})
const changesShape = z.strictObject({
  enabled: z.optional(flag),
  roles: z.optional(roles),
  attributes: z.optional(attributes),
  password: z.nullish(password),
})
const pageShape = z.strictObject(pageMembers)
const auditShape = z.strictObject(auditMembers)

/**
 * Creates the built-in users, stored in the storage of the service. Roles and attributes are stored as
 * JSON, passwords as salted hashes. `find` reads the storage each time, synchronously if the storage does.
 */
export function createUsers(options: UsersOptions): Users & UserLookup {
  const own = new StoredUsers(options)
  return Object.freeze<Users & UserLookup>({
    find: (user) => own.find(user),
    add: async (user, by) => own.add(user, actOf('users.add', by)),
    ensure: async (user, by) => own.ensure(user, actOf('users.ensure', by)),
    get: (user) => own.get(user),
    list: (page) => own.list(page),
    change: async (user, changes, by) => own.change(user, changes, actOf('users.change', by)),
    remove: async (user, by) => own.remove(user, actOf('users.remove', by)),
    audit: (filter) => own.audit(filter),
  })
}

class StoredUsers {
  readonly #options: UsersOptions
  readonly #reader = userReader()
  readonly #stored: TableReader

  constructor(options: UsersOptions) {
    this.#options = options
    this.#stored = tableReader(options.storage, users)
  }

  find(user: string): MaybePromise<Account | undefined> {
    return whenDone(
      this.#stored.one({ user }, accountFields),
      (row) => row && this.#reader.account(row),
    )
  }

  async #hashed(call: string, user: string, given: string): Promise<string> {
    if (this.#options.hashPassword === undefined) {
      throw new TypeError(
        `${call}.password needs an HTTP Basic provider: security: [httpBasic({ name: 'Password' })]`,
      )
    }
    if (user.includes(':')) {
      throw new TypeError(`${call}.user must not contain a colon to have a password`)
    }
    return this.#options.hashPassword(given)
  }

  async #newRow(call: string, user: NewUser): Promise<Row> {
    const given = checkCall(call, newUserShape, user)
    return {
      user: given.user,
      enabled: given.enabled,
      roles: JSON.stringify(given.roles),
      attributes: JSON.stringify(given.attributes),
      password:
        given.password === undefined ? null : await this.#hashed(call, given.user, given.password),
      created: instantOf(this.#options.now()),
    }
  }

  /** Adds a user in a transaction, with the event. */
  async #insert(
    transaction: StorageTransaction,
    { row, by }: { readonly row: Row; readonly by: Act },
    insert: () => MaybePromise<Row>,
  ): Promise<Row> {
    const user = row['user'] as string
    return within(by, transaction, async () => {
      const inserted = await insert()
      const at = this.#options.now()
      // A key that was created while its user was removed may have been stored after that.
      if (this.#options.keepsKeys) await revokeKeysOf(transaction, user, { at, by })
      await recordUserEvent(transaction, user, { ...changesOfNew(row), event: 'added', by }, at)
      return inserted
    })
  }

  async add(user: NewUser, by: Act): Promise<User> {
    const row = await this.#newRow('users.add', user)
    return this.#reader.user(
      await this.#options.storage.transaction(writing, (transaction) =>
        this.#insert(transaction, { row, by }, () => insertUser(transaction, row)),
      ),
    )
  }

  async ensure(user: NewUser, by: Act): Promise<User> {
    const call = 'users.ensure'
    const name = checkCall(call, newUserShape, user).user
    const found = await this.#stored.one({ user: name })
    // Hashing is slow, and unnecessary for a user that exists.
    if (found !== undefined) return this.#reader.user(found)
    const row = await this.#newRow(call, user)
    return this.#reader.user(
      await this.#options.storage.transaction(writing, async (transaction) => {
        const own = table(transaction, users)
        const present = await own.one({ user: name })
        if (present !== undefined) return present
        return this.#insert(transaction, { row, by }, () => own.insertMissing(row))
      }),
    )
  }

  async get(user: string): Promise<User | undefined> {
    checkCall('users.get', userName, user)
    const row = await this.#stored.one({ user })
    return row && this.#reader.user(row)
  }

  async list(page: ListPage = {}): Promise<readonly User[]> {
    const { limit = Infinity, offset = 0 } = checkCall('users.list', pageShape, page)
    const part = { sort: ['user'], limit, offset }
    const rows = await readAll(this.#options.storage, users, {}, part)
    return Object.freeze(rows.map(this.#reader.user))
  }

  async change(user: string, changes: UserChanges, by: Act): Promise<User> {
    const call = 'users.change'
    checkCall(call, userName, user)
    const given = checkCall(call, changesShape, changes)
    const values = {
      ...(given.enabled !== undefined && { enabled: given.enabled }),
      ...(given.roles && { roles: JSON.stringify(given.roles) }),
      ...(given.attributes && { attributes: JSON.stringify(given.attributes) }),
      ...(given.password === null && { password: null }),
      ...(given.password && { password: await this.#hashed(call, user, given.password) }),
    }
    const row = await this.#options.storage.transaction(writing, (transaction) =>
      within(by, transaction, async () => {
        const before = await lockedUser(transaction, user)
        const changed = await table(transaction, users).change({ user }, values)
        if (changed === undefined) throw missingUser(call, user)
        const at = this.#options.now()
        if ('password' in values && this.#options.keepsKeys)
          await revokeSessionsOf(transaction, user, { at, by })
        const changes = changesBetween(before, values)
        if (changes.changed.length > 0) {
          const event = { ...changes, event: 'changed', by } as const
          await recordUserEvent(transaction, user, event, at)
        }
        return changed
      }),
    )
    return this.#reader.user(row)
  }

  async remove(user: string, by: Act): Promise<void> {
    checkCall('users.remove', userName, user)
    await this.#options.storage.transaction(writing, (transaction) =>
      within(by, transaction, async () => {
        const row = await table(transaction, users).remove({ user })
        if (row === undefined) throw missingUser('users.remove', user)
        const at = this.#options.now()
        if (this.#options.keepsKeys) await revokeKeysOf(transaction, user, { at, by })
        await recordUserEvent(transaction, user, { event: 'removed', by }, at)
        return row
      }),
    )
  }

  async audit(filter: AuditFilter = {}): Promise<readonly UserEvent[]> {
    return readUserEvents(this.#options.storage, checkCall('users.audit', auditShape, filter))
  }
}

async function insertUser(transaction: StorageTransaction, row: Row): Promise<Row> {
  try {
    return await table(transaction, users).insert(row)
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'duplicate') throw error
    throw new TypeError(
      `users.add: the user ${String(row['user'])} already exists; call users.change instead`,
    )
  }
}
