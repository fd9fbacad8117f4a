import { setTimeout as pause } from 'node:timers/promises'
import { isStorageError, type StorageAdapter } from '../adapter.ts'
import { bind, type Connection, type Connections } from '../sql/connection.ts'
import { storageFailure, unavailable } from '../sql/failure.ts'
import { sql } from '../sql/fragments.ts'
import { observed } from './commits.ts'
import { isLost, postgresErrors } from './failure.ts'

/** Reads on a replica that show every write of this process. */
export interface ReplicaReads {
  /**
   * Runs a read with a connection of the replica, or with one of the primary if the replica does not answer or does
   * not have the writes of this process in time. The work may run twice.
   */
  readonly use: Connections['use']
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

const pollMilliseconds = 3
// A replica that has failed is not tried for each request.
const retryMilliseconds = 1_000

// With synchronous_commit = off, a commit may not have been written to the log yet.
const currentPosition = bind(sql`select case current_setting('synchronous_commit')
  when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end::text as position`)

const progress = sql`select case when not pg_is_in_recovery() then 'primary'
  when pg_last_wal_replay_lsn() >= ${{ read: () => null }}::pg_lsn then 'reached' else 'behind' end as progress`

const identity =
  bind(sql`select pg_is_in_recovery()::text as replica, system_identifier::text as server,
  current_database()::text as database, current_schemas(false)::text as schemas from pg_control_system()`)

/** Returns reads on a replica. They wait for writes of this process for a limited time, in milliseconds. */
export function replicaReads(
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
    const [[position] = []] = await primary.use((connection) => connection.rows(currentPosition))
    return { commits: own, position: String(position) }
  }

  async function reach(connection: Connection, { commits: wanted, position }: Goal): Promise<void> {
    const { session } = connection
    if (session !== undefined && (reached.get(session) ?? 0) >= wanted) return
    const latest = performance.now() + maxWait
    for (;;) {
      const [[found] = []] = await connection.rows({ sql: progress, values: [position] })
      if (found === 'reached') break
      if (found === 'primary')
        throw unavailable(new Error('the server is not a replica any longer'))
      if (performance.now() >= latest) {
        throw unavailable(new Error(`the replica did not catch up within ${maxWait} ms`))
      }
      await pause(pollMilliseconds)
    }
    if (session !== undefined) reached.set(session, wanted)
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
    async open() {
      const here = await primary.use(identify)
      try {
        requireReplica(here, await replica.use(identify))
      } catch (error) {
        if (error instanceof TypeError) throw error
        if (!isOutage(error)) throw mistake(String(error), error)
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

interface Identity {
  readonly replica: unknown
  readonly server: unknown
  readonly database: unknown
  readonly schemas: unknown
}

async function identify(connection: Connection): Promise<Identity> {
  const [[replica, server, database, schemas] = []] = await connection.rows(identity)
  return { replica, server, database, schemas }
}

function requireReplica(primary: Identity, found: Identity): void {
  if (found.replica !== 'true') throw mistake('the server is not a replica')
  if (found.server !== primary.server) throw mistake('the server is a replica of another one')
  for (const what of ['database', 'schemas'] as const) {
    if (found[what] === primary[what]) continue
    throw mistake(`its ${what} must be ${String(primary[what])}, not ${String(found[what])}`)
  }
}

function mistake(what: string, cause?: unknown): TypeError {
  return new TypeError(`postgresStorage.reads: ${what}`, { cause })
}

// The primary would answer in the same way, or take as long.
function isOutcome(error: unknown): boolean {
  return (isStorageError(error) && error.kind === 'unfit') || codeOf(error) === '57014'
}

/** Returns whether the next read would probably fail too. The others are conflicts with what the replica replays. */
function isOutage(error: unknown): boolean {
  const failure = storageFailure(postgresErrors, error, 'read')
  if (!isStorageError(failure) || failure.kind !== 'unavailable' || failure.isConflict) return false
  return isLost(failure.cause) || String(codeOf(failure)).startsWith('53')
}

function codeOf(error: unknown): unknown {
  const { code } = (isStorageError(error) ? error.cause : error) as { readonly code?: unknown }
  return code
}
