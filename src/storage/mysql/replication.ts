import { bind } from '../sql/connection.ts'
import { sql } from '../sql/fragments.ts'
import type { Replication } from '../sql/replica.ts'
import { isLost, mysqlErrors } from './failure.ts'

const version = bind(sql`select version() as version`)
const identity = bind(sql`select @@global.server_id, @@global.log_bin, database()`)
const currentPosition = bind(sql`select @@global.gtid_binlog_pos`)

const given = { read: () => null }
const wait = sql`set statement max_statement_time = 0 for select master_gtid_wait(${given}, ${given})`

interface Identity {
  readonly server: unknown
  readonly hasLog: boolean
  readonly database: unknown
}

/**
 * Replication of MariaDB by global transaction identifiers. A replica does not say whose it is, apart from privileges
 * of administrators.
 */
export const mysqlReplication: Replication<Identity> = {
  option: 'mysqlStorage.reads',
  errors: mysqlErrors,
  isOutage: (error) => isLost(error) || [1040, 1203, 1226].includes(Number(numberOf(error))),
  isTimeout: (error) => numberOf(error) === 1969,
  async identify(connection) {
    const [[found] = []] = await connection.rows(version)
    if (!String(found).includes('MariaDB')) {
      throw new TypeError('mysqlStorage.reads: the server must be MariaDB')
    }
    const [[server, log, database] = []] = await connection.rows(identity)
    return { server, hasLog: log === '1', database }
  },
  mistake(primary, found) {
    if (!primary.hasLog) return 'the primary has no binary log, so that it has no replicas'
    if (found.server === primary.server) {
      return 'the server has the server_id of the primary, so that it is not a replica'
    }
    if (found.database === primary.database) return undefined
    return `its database must be ${String(primary.database)}, not ${String(found.database)}`
  },
  async position(connection) {
    const [[position] = []] = await connection.rows(currentPosition)
    return String(position)
  },
  async reaches(connection, position, maxWait) {
    const [[late] = []] = await connection.rows({ sql: wait, values: [position, maxWait / 1_000] })
    return late === '0'
  },
}

function numberOf(error: unknown): unknown {
  return (error as { readonly errno?: unknown }).errno
}
