import { runtime } from '../../runtime.ts'
import { isStorageError, type StorageAdapter } from '../adapter.ts'
import { observed } from './commits.ts'
import type { Connection, Connections } from './connection.ts'
import { storageFailure, unavailable, type Errors } from './failure.ts'
import type { ReadRoute } from './joined-reads.ts'

/** What the replication of a kind of server answers. */
export interface Replication<Identity = unknown> {
  /** The name of the option that has the replica, for messages. */
  readonly option: string
  readonly errors: Errors
  /** Returns whether an error is the end of the connection, or that the server accepts none. */
  isOutage(error: unknown): boolean
  /** Returns whether a statement has taken longer than it may. */
  isTimeout(error: unknown): boolean
  /** Reads what {@link Replication.mistake} compares. */
  identify(connection: Connection): Promise<Identity>
  /** Returns why a server is no replica of a primary with the same tables. Undefined: it may be one. */
  mistake(primary: Identity, replica: Identity): string | undefined
  /** Reads a position in the log of the primary behind all transactions that have been committed. */
  position(connection: Connection): Promise<string>
  /** Waits until a replica has a position, at most so many milliseconds. Rejects if the server is no longer a replica. */
  reaches(connection: Connection, position: string, maxWait: number): Promise<boolean>
}

/** A place in the log of the primary that the replica must have reached. */
interface Goal {
  /** The number of own commits before it. */
  readonly commits: number
  readonly position: string
}

// A replica that has failed is not tried for each request.
const retryMilliseconds = 1_000

/** Reads on a replica that show every write of this process. They wait for these writes for up to `maxWait` milliseconds. */
export class ReplicaReads<Identity> implements ReadRoute {
  readonly #server: Replication<Identity>
  readonly #primary: Connections
  readonly #replica: Connections
  readonly #maxWait: number
  // The first one stands for everything before the start.
  #commits = 1
  #known: { readonly commits: number; readonly goal: Promise<Goal> } | undefined
  #isInUse = true
  #isProbing = false
  #retryAt = 0
  // The commits that connections have. A server behind a new connection may have fewer than that before.
  readonly #reached = new WeakMap<object, number>()

  constructor(
    server: Replication<Identity>,
    primary: Connections,
    replica: Connections,
    maxWait: number,
  ) {
    this.#server = server
    this.#primary = primary
    this.#replica = replica
    this.#maxWait = maxWait
  }

  /**
   * Runs a read with a connection of the replica, or with one of the primary if the replica does not answer or does
   * not have the writes of this process in time. The work may run twice.
   */
  readonly use: Connections['use'] = async (work, deadline) => {
    if (!this.#isInUse) {
      if (!this.#isProbing && runtime.performanceNow() >= this.#retryAt) void this.#probe()
      return this.#primary.use(work, deadline)
    }
    const goal = await this.#currentGoal()
    try {
      return await this.#replica.use(async (connection) => {
        await this.#reach(connection, goal)
        return work(connection)
      }, deadline)
    } catch (error) {
      if (this.#isOutcome(error)) throw error
      if (this.#isOutage(error)) this.#lose(deadline)
    }
    return this.#primary.use(work, deadline)
  }

  /** Returns the number of writes of this process. */
  readonly writes = (): number => this.#commits

  /** Checks that the server is a replica of the primary. Rejects with a TypeError if it is not. */
  async open(): Promise<void> {
    const here = await this.#primary.use(this.#server.identify)
    try {
      const mistake = this.#server.mistake(here, await this.#replica.use(this.#server.identify))
      if (mistake !== undefined) throw new TypeError(`${this.#server.option}: ${mistake}`)
    } catch (error) {
      if (error instanceof TypeError) throw error
      if (!this.#isOutage(error)) {
        throw new TypeError(`${this.#server.option}: ${String(error)}`, { cause: error })
      }
      // The service starts without it.
      this.#stopUse()
    }
  }

  /** Returns transactions whose writes the reads after them show. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction'] {
    return observed(transaction, {
      ended: () => {
        this.#commits += 1
      },
    })
  }

  /** Rejects waiting reads of the replica, and resolves when the others have ended. */
  close(): Promise<void> {
    return this.#replica.close()
  }

  #currentGoal(): Promise<Goal> {
    if (this.#known?.commits === this.#commits) return this.#known.goal
    const asked = { commits: this.#commits, goal: this.#askGoal(this.#commits) }
    this.#known = asked
    asked.goal.catch(() => {
      if (this.#known === asked) this.#known = undefined
    })
    return asked.goal
  }

  async #askGoal(own: number): Promise<Goal> {
    return { commits: own, position: await this.#primary.use(this.#server.position) }
  }

  async #reach(connection: Connection, goal: Goal): Promise<void> {
    const { session } = connection
    if (session !== undefined && (this.#reached.get(session) ?? 0) >= goal.commits) return
    await this.#waitFor(connection, goal)
  }

  async #waitFor(connection: Connection, { commits: wanted, position }: Goal): Promise<void> {
    const { session } = connection
    if (!(await this.#server.reaches(connection, position, this.#maxWait))) {
      throw unavailable(new Error(`the replica did not catch up within ${this.#maxWait} ms`))
    }
    if (session !== undefined) this.#reached.set(session, wanted)
  }

  // The primary would answer in the same way, or take as long.
  #isOutcome(error: unknown): boolean {
    return (
      (isStorageError(error) && error.kind === 'unfit') || this.#server.isTimeout(causeOf(error))
    )
  }

  /** Returns whether the next read would probably fail too. The others are conflicts with what the replica replays. */
  #isOutage(error: unknown): boolean {
    const failure = storageFailure(this.#server.errors, error, 'read')
    if (!isStorageError(failure) || failure.kind !== 'unavailable') return false
    return !failure.isConflict && this.#server.isOutage(failure.cause)
  }

  /** Stops the use of the replica. The end of one request says little about it, so that it is probed at once. */
  #lose(deadline: number | undefined): void {
    this.#stopUse()
    const hasEnded = deadline !== undefined && runtime.performanceNow() >= deadline
    if (hasEnded && !this.#isProbing) void this.#probe()
  }

  #stopUse(): void {
    this.#isInUse = false
    this.#retryAt = runtime.performanceNow() + retryMilliseconds
  }

  async #probe(): Promise<void> {
    this.#isProbing = true
    try {
      const goal = await this.#currentGoal()
      // Also with a connection that has reached it: the server may no longer respond.
      await this.#replica.use((connection) => this.#waitFor(connection, goal))
      this.#isInUse = true
    } catch {
      this.#stopUse()
    }
    this.#isProbing = false
  }
}

function causeOf(error: unknown): unknown {
  return isStorageError(error) ? error.cause : error
}
