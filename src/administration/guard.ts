import type { Principal } from '../definition/principal.ts'
import { equal, type Condition } from '../request/query.ts'
import { actOfPrincipal, optionOf, type Act, type ActorOption } from '../security/actor.ts'
import { securityCollections } from '../security/collections.ts'
import { instantOf } from '../security/keys/key-lifetime.ts'
import { isKeyProvider, isPasswordProvider, type SecurityProvider } from '../security/provider.ts'
import { lockedUser, rolesIn } from '../security/users/user-changes.ts'
import type { Row, StorageReader, StorageTransaction } from '../storage/adapter.ts'
import { filterFitting, readFitting } from '../storage/fitting-rows.ts'
import { isAdministrator, missingRoles, type Context } from './context.ts'

const { users, keys } = securityCollections
const minute = 60_000

/** How long an administrator must be able to sign in after a change, in minutes. */
const minMinutes = 60

/** Why a change of a user or a key is rejected within its transaction. */
export interface Rejections {
  /** No administrator would remain. */
  readonly lastAdministrator: () => never
  /** The user has a role that the caller lacks. */
  readonly lackedRole: (role: string) => never
}

/** What a guarded change is about. */
export interface Guarded extends Rejections {
  /** The user who is changed, or whose key is. */
  readonly user: string
  /** Called with the user as the transaction finds it, before the change. May reject. */
  readonly found?: (row: Row) => void
}

/**
 * Returns the option with which a caller changes a user, or a key of that user. Within the transaction of the change, the
 * user must not have a role that the caller lacks, and an administrator must remain who can sign in for a while: two
 * administrators who take each other's rights at the same time wait for each other.
 */
export function guarded(
  context: Context,
  principal: Principal,
  { user, found, ...reject }: Guarded,
): ActorOption {
  const { facts, options, host } = context
  const within: Act['within'] = async (transaction, change) => {
    if (!facts.hasUsers) return change()
    const administrators = new Administrators(context, transaction)
    const { row, isUnfit } = await lockTarget(administrators, transaction, user)
    // The roles of a row that can't be read are unknown.
    if (isUnfit && !isAdministrator(context, principal))
      reject.lackedRole(options.roles.administrator)
    const [lacked] = missingRoles(context, principal, rolesIn(row))
    if (lacked !== undefined) reject.lackedRole(lacked)
    if (row !== undefined) found?.(row)
    if (!administrators.isOne(row)) return change()
    const until = host().now().getTime() + lasting(context) * minute
    const before = await administrators.usableUntil(until)
    const changed = await change()
    const after = await administrators.usableUntil(until)
    if (after < before && after < until) reject.lastAdministrator()
    return changed
  }
  return optionOf({ ...actOfPrincipal(principal), within })
}

/** Returns how a change is rejected within its transaction. */
export function rejectionsOf<Field extends string>(
  { options }: Context,
  field: Field | undefined,
  reject: (message: string, field?: Field) => never,
): Rejections {
  const about = field === undefined ? [] : ([field] as const)
  const { administrator } = options.roles
  const last = `At least one enabled user with the role ${administrator} must keep a password, or a key that is valid for ${minMinutes} minutes.`
  return {
    lastAdministrator: () => reject(last, ...about),
    lackedRole: (role) => reject(lackedText(role), ...about),
  }
}

/** Returns why a caller can't change a user, or a key of that user. */
export function lackedText(role: string): string {
  return `The user has the role ${role}, which you do not have.`
}

/** Returns how many minutes an administrator must be able to sign in: fewer if no key lasts as long. */
function lasting(context: Context): number {
  const longest = enabledProviders(context)
    .filter(isKeyProvider)
    .map(({ maxExpiry }) => maxExpiry ?? Infinity)
  return Math.min(minMinutes, Math.max(0, ...longest) / 2)
}

function enabledProviders({ host }: Context): readonly SecurityProvider[] {
  return host().service.security.providers.filter(({ enabled = true }) => enabled)
}

/** Locks a user; of an administrator, all administrators, in the same order everywhere. */
async function lockTarget(
  administrators: Administrators,
  transaction: StorageTransaction,
  user: string,
): Promise<{ readonly row: Row | undefined; readonly isUnfit: boolean }> {
  const select = ['user', 'enabled', 'roles']
  const { rows, unfit } = await readFitting(transaction, users, { user }, { limit: 1, select })
  if (administrators.isOne(rows[0])) await administrators.lock(user)
  const row = await lockedUser(transaction, user)
  // The user has become an administrator since then, and the others may have lost the role.
  if (administrators.isOne(row) && !administrators.has(user)) await administrators.lock(user)
  // A value that these fields do not include may not fit either.
  return { row, isUnfit: unfit.length > 0 || (row === undefined && rows.length > 0) }
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

  has(user: string): boolean {
    return this.#names.includes(user)
  }

  /** Locks them. `user` is one of them, even if the transaction can't read that without a lock. */
  async lock(user: string): Promise<void> {
    const page = { select: ['user', 'enabled', 'roles'], sort: ['user'] }
    const { rows } = await readFitting(this.#transaction, users, { enabled: true }, page)
    const names = rows.filter((row) => this.isOne(row)).map((row) => row['user'] as string)
    this.#names = [...new Set([...names, user])]
    for (const name of this.#names) await lockedUser(this.#transaction, name)
  }

  /**
   * Returns the time until which one of them can sign in, in milliseconds. It is not exact if it is `enough` or later.
   */
  async usableUntil(enough: number): Promise<number> {
    let latest = -Infinity
    for (const name of this.#names) {
      const row = await lockedUser(this.#transaction, name)
      if (row === undefined || !this.isOne(row)) continue
      latest = Math.max(latest, await this.#usableUntil(name, row))
      if (latest >= enough) break
    }
    return latest
  }

  async #usableUntil(user: string, { password }: Row): Promise<number> {
    const enabled = enabledProviders(this.#context)
    const passwords = enabled.filter(isPasswordProvider)
    // The credentials of other providers are not in storage.
    const isUnknown = enabled.some((one) => !isKeyProvider(one) && !isPasswordProvider(one))
    if (isUnknown || passwords.some(({ checksItself = false }) => checksItself)) return Infinity
    if (passwords.length > 0 && (password ?? null) !== null) return Infinity
    const ofProviders = enabled
      .filter(isKeyProvider)
      .map(({ identifier }) => equal('provider', identifier))
    return keysUntil(this.#transaction, this.#context.host().now(), [
      // A session ends soon, and can't be exchanged for another one.
      ...[equal('user', user), equal('revoked', null), equal('purpose', null)],
      { is: 'or', conditions: ofProviders },
    ])
  }
}

/** Returns the time until which one of the keys is active, in milliseconds. */
async function keysUntil(
  reader: StorageReader,
  now: Date,
  conditions: readonly Condition[],
): Promise<number> {
  const lasting = await firstKey(reader, [...conditions, equal('expires', null)])
  if (lasting !== undefined) return Infinity
  const isActive: Condition = { field: 'expires', is: 'gt', value: instantOf(now) }
  const key = await firstKey(reader, [...conditions, isActive])
  return key === undefined ? -Infinity : Date.parse(String(key['expires']))
}

/** Returns the key that expires last, of those that can be read. */
async function firstKey(
  reader: StorageReader,
  conditions: readonly Condition[],
): Promise<Row | undefined> {
  for (let offset = 0; ; offset++) {
    const [found] = await filterFitting(reader, keys, {
      ...{ conditions, search: null, limit: 1, offset, count: false },
      sort: [
        { field: 'expires', descending: true },
        { field: 'hash', descending: false },
      ],
      select: ['hash', 'expires'],
      // Otherwise the transaction may read a key as it was before another transaction has revoked it.
      lock: true,
    })
    if (found === undefined) return undefined
    if ('row' in found) return found.row
  }
}
