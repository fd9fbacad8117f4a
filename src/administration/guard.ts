import type { Principal } from '../definition/principal.ts'
import type { Row, StorageReader, StorageTransaction } from '../storage/adapter.ts'
import { readFitting } from '../storage/fitting-rows.ts'
import { equal } from '../request/query.ts'
import { filterTable, tableReader } from '../storage/table.ts'
import { actOfPrincipal, optionOf, type Act, type ActorOption } from '../security/actor.ts'
import { securityCollections } from '../security/collections.ts'
import { inactiveReason } from '../security/keys/key-lifetime.ts'
import type { KeyRecord } from '../security/keys/key-store.ts'
import { isKeyProvider, isPasswordProvider } from '../security/provider.ts'
import { lockedUser, rolesIn } from '../security/users/user-changes.ts'
import { missingRoles, type Context } from './context.ts'

const { users, keys } = securityCollections

/** Why a change of a user or a key is rejected within its transaction. */
export interface Rejections {
  /** No administrator would remain. */
  readonly lastAdministrator: () => never
  /** The user has a role that the caller lacks. */
  readonly lackedRole: (role: string) => never
}

/**
 * Returns the option with which a caller changes a user, or a key of that user. Within the transaction of the change, the
 * user must not have a role that the caller lacks, and the last administrator with a usable credential must remain: two
 * administrators who take each other's rights at the same time wait for each other.
 */
export function guarded(
  context: Context,
  principal: Principal,
  { user, ...reject }: Rejections & { readonly user: string },
): ActorOption {
  const { facts } = context
  const within: Act['within'] = async (transaction, change) => {
    if (!facts.hasUsers) return change()
    const administrators = new Administrators(context, transaction)
    const target = await lockTarget(administrators, transaction, user)
    const [lacked] = missingRoles(context, principal, rolesIn(target))
    if (lacked !== undefined) reject.lackedRole(lacked)
    if (!administrators.isOne(target)) return change()
    const before = await administrators.hasUsable()
    const changed = await change()
    if (before && !(await administrators.hasUsable())) reject.lastAdministrator()
    return changed
  }
  return optionOf({ ...actOfPrincipal(principal), within })
}

/** Locks a user; of an administrator, all administrators, in the same order everywhere. */
async function lockTarget(
  administrators: Administrators,
  transaction: StorageTransaction,
  user: string,
): Promise<Row | undefined> {
  const found = await tableReader(transaction, users).one({ user }, ['user', 'enabled', 'roles'])
  if (!administrators.isOne(found)) return lockedUser(transaction, user)
  await administrators.lock()
  return lockedUser(transaction, user)
}

/** The administrators of a service, as a transaction sees them. */
class Administrators {
  readonly #context: Context
  readonly #transaction: StorageTransaction
  #names: readonly string[] = []

  constructor(context: Context, transaction: StorageTransaction) {
    this.#context = context
    this.#transaction = transaction
  }

  isOne(row: Row | undefined): boolean {
    const { administrator } = this.#context.options.roles
    return row?.['enabled'] === true && rolesIn(row).includes(administrator)
  }

  async lock(): Promise<void> {
    const page = { select: ['user', 'enabled', 'roles'], sort: ['user'] }
    const { rows } = await readFitting(this.#transaction, users, { enabled: true }, page)
    this.#names = rows.filter((row) => this.isOne(row)).map((row) => row['user'] as string)
    for (const name of this.#names) await lockedUser(this.#transaction, name)
  }

  /** Returns whether one of them can sign in. */
  async hasUsable(): Promise<boolean> {
    for (const name of this.#names) {
      const row = await lockedUser(this.#transaction, name)
      if (row !== undefined && this.isOne(row) && (await this.#canSignIn(name, row))) return true
    }
    return false
  }

  async #canSignIn(user: string, { password }: Row): Promise<boolean> {
    const { security } = this.#context.host().service
    const enabled = security.providers.filter(({ enabled = true }) => enabled)
    const passwords = enabled.filter(isPasswordProvider)
    // The credentials of other providers are not in storage.
    const isUnknown = enabled.some((one) => !isKeyProvider(one) && !isPasswordProvider(one))
    if (isUnknown || passwords.some(({ checksItself = false }) => checksItself)) return true
    if (passwords.length > 0 && (password ?? null) !== null) return true
    const identifiers = new Set(enabled.filter(isKeyProvider).map(({ identifier }) => identifier))
    return hasUsableKey(this.#transaction, { user, identifiers, now: this.#context.host().now() })
  }
}

async function hasUsableKey(
  reader: StorageReader,
  {
    user,
    identifiers,
    now,
  }: { readonly user: string; readonly identifiers: ReadonlySet<string>; readonly now: Date },
): Promise<boolean> {
  const { rows } = await filterTable(reader, keys, {
    // A session ends soon, and can't be exchanged for another one.
    conditions: [equal('user', user), equal('revoked', null), equal('purpose', null)],
    search: null,
    sort: [{ field: 'hash', descending: false }],
    limit: maxKeys,
    offset: 0,
    select: keys.allNames,
    count: false,
    // Otherwise the transaction may read a key as it was before another transaction has revoked it.
    lock: true,
  })
  return rows.some((row) => {
    const key = row as unknown as KeyRecord
    return identifiers.has(key.provider) && inactiveReason(key, now) === undefined
  })
}

/** How many keys of an administrator are looked at. */
const maxKeys = 1_000
