import { pause, runtime } from '../../runtime.ts'
import { bind } from '../pool/connection.ts'
import { unavailable } from '../pool/failure.ts'
import { sql } from '../sql/fragments.ts'
import type { Replication } from '../pool/replica.ts'
import { isLost, postgresErrors } from './failure.ts'

const pollMilliseconds = 3

// With synchronous_commit = off, a commit may not have been written to the log yet.
const currentPosition = bind(sql`select case current_setting('synchronous_commit')
  when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end::text as position`)

const progress = sql`select case when not pg_is_in_recovery() then 'primary'
  when pg_last_wal_replay_lsn() >= ${{ read: () => null }}::pg_lsn then 'reached' else 'behind' end as progress`

const identity =
  bind(sql`select pg_is_in_recovery()::text as replica, system_identifier::text as server,
  current_database()::text as database, current_schemas(false)::text as schemas from pg_control_system()`)

interface Identity {
  readonly replica: unknown
  readonly server: unknown
  readonly database: unknown
  readonly schemas: unknown
}

/** Physical replication of PostgreSQL: positions in its write-ahead log. */
export const postgresReplication: Replication<Identity> = {
  option: 'postgresStorage.reads',
  errors: postgresErrors,
  isOutage: (error) => isLost(error) || String(codeOf(error)).startsWith('53'),
  isTimeout: (error) => codeOf(error) === '57014',
  async identify(connection) {
    const [[replica, server, database, schemas] = []] = await connection.rows(identity)
    return { replica, server, database, schemas }
  },
  mistake(primary, found) {
    if (found.replica !== 'true') return 'the server is not a replica'
    if (found.server !== primary.server) return 'the server is a replica of another one'
    const what = (['database', 'schemas'] as const).find((name) => found[name] !== primary[name])
    return what && `its ${what} must be ${String(primary[what])}, not ${String(found[what])}`
  },
  async position(connection) {
    const [[position] = []] = await connection.rows(currentPosition)
    return String(position)
  },
  async reaches(connection, position, maxWait) {
    const latest = runtime.performanceNow() + maxWait
    for (;;) {
      const [[found] = []] = await connection.rows({ sql: progress, values: [position] })
      if (found === 'reached') return true
      if (found === 'primary') throw unavailable(new Error('the server is no longer a replica'))
      if (runtime.performanceNow() >= latest) return false
      await pause(pollMilliseconds)
    }
  },
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}
