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
  /** Waits until a replica has a position, at most so many milliseconds. Rejects if it is none any more. */
  reaches(connection: Connection, position: string, maxWait: number): Promise<boolean>
}

/** Reads on a replica that show every write of this process. */
export interface ReplicaReads extends ReadRoute {
  /**
   * Runs a read with a connection of the replica, or with one of the primary if the replica does not answer or does
   * not have the writes of this process in time. The work may run twice.
   */
  readonly use: Connections['use']
  /** Returns the number of writes of this process. */
  readonly writes: () => number
  /** Checks that the server is a replica of the primary. Rejects with a TypeError if it is not. */
  open(): Promise<void>
  /** Returns transactions whose writes the reads after them show. */
  counting(transaction: StorageAdapter['transaction']): StorageAdapter['transaction']
  /** Rejects waiting reads of the replica, and resolves when those in progress have ended. */
  close(): Promise<void>
}

/** A place in the log of the primary that the replica must have reached. */
interface Goal {
  /** The number of own commits before it. */
  readonly commits: number
  readonly position: string
}

// A replica that has failed is not tried for each request.
const retryMilliseconds = 1_000

/** Returns reads on a replica. They wait for writes of this process for a limited time, in milliseconds. */
export function replicaReads<Identity>(
  server: Replication<Identity>,
  primary: Connections,
  replica: Connections,
  maxWait: number,
): ReplicaReads {
  // The first one stands for everything before the start.
  let commits = 1
  let known: { readonly commits: number; readonly goal: Promise<Goal> } | undefined
  let isInUse = true
  let isProbing = false
  let retryAt = 0
  // The commits that connections have. A server behind a new connection may have fewer than that before.
  const reached = new WeakMap<object, number>()

  function currentGoal(): Promise<Goal> {
    if (known?.commits === commits) return known.goal
    const asked = { commits, goal: askGoal(commits) }
    known = asked
    asked.goal.catch(() => {
      if (known === asked) known = undefined
    })
    return asked.goal
  }

  async function askGoal(own: number): Promise<Goal> {
    return { commits: own, position: await primary.use(server.position) }
  }

  async function reach(connection: Connection, { commits: wanted, position }: Goal): Promise<void> {
    const { session } = connection
    if (session !== undefined && (reached.get(session) ?? 0) >= wanted) return
    if (!(await server.reaches(connection, position, maxWait))) {
      throw unavailable(new Error(`the replica did not catch up within ${maxWait} ms`))
    }
    if (session !== undefined) reached.set(session, wanted)
  }

  // The primary would answer in the same way, or take as long.
  function isOutcome(error: unknown): boolean {
    return (isStorageError(error) && error.kind === 'unfit') || server.isTimeout(causeOf(error))
  }

  /** Returns whether the next read would probably fail too. The others are conflicts with what the replica replays. */
  function isOutage(error: unknown): boolean {
    const failure = storageFailure(server.errors, error, 'read')
    if (!isStorageError(failure) || failure.kind !== 'unavailable') return false
    return !failure.isConflict && server.isOutage(failure.cause)
  }

  function stopUse(): void {
    isInUse = false
    retryAt = performance.now() + retryMilliseconds
  }

  async function probe(): Promise<void> {
    isProbing = true
    try {
      const goal = await currentGoal()
      await replica.use((connection) => reach(connection, goal))
      isInUse = true
    } catch {
      stopUse()
    }
    isProbing = false
  }

  return {
    async use(work) {
      if (!isInUse) {
        if (!isProbing && performance.now() >= retryAt) void probe()
        return primary.use(work)
      }
      const goal = await currentGoal()
      try {
        return await replica.use(async (connection) => {
          await reach(connection, goal)
          return work(connection)
        })
      } catch (error) {
        if (isOutcome(error)) throw error
        if (isOutage(error)) stopUse()
      }
      return primary.use(work)
    },
    writes: () => commits,
    async open() {
      const here = await primary.use(server.identify)
      try {
        const mistake = server.mistake(here, await replica.use(server.identify))
        if (mistake !== undefined) throw new TypeError(`${server.option}: ${mistake}`)
      } catch (error) {
        if (error instanceof TypeError) throw error
        if (!isOutage(error)) {
          throw new TypeError(`${server.option}: ${String(error)}`, { cause: error })
        }
        // The service starts without it.
        stopUse()
      }
    },
    counting: (transaction) =>
      observed(transaction, {
        counts: () => true,
        ended: () => {
          commits += 1
        },
      }),
    close: () => replica.close(),
  }
}

function causeOf(error: unknown): unknown {
  return isStorageError(error) ? error.cause : error
}
