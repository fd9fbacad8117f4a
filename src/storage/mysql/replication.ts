import { bind, type BoundStatement } from '../pool/connection.ts'
import { raw, sql, type Slot, type Sql } from '../sql/fragments.ts'
import type { Replication } from '../pool/replica.ts'
import type { MysqlServer } from './dialect.ts'
import { isLost, mysqlErrors } from './failure.ts'

/** What the log of a kind of server answers. */
interface Log {
  /** Reads the name of the server, `1` if it has the log that replicas need, and the database. */
  readonly identity: BoundStatement
  /** The setting that names the server. */
  readonly name: string
  /** Why a primary without the log has no replicas. */
  readonly absent: string
  readonly position: BoundStatement
  /** Returns the statement that waits for a position, and returns 0 when the replica has it. */
  wait(position: Slot, milliseconds: number): Sql
}

const logs: Readonly<Record<MysqlServer, Log>> = {
  MariaDB: {
    identity: bind(sql`select @@global.server_id, @@global.log_bin, database()`),
    name: 'server_id',
    absent: 'the primary has no binary log, so that it has no replicas',
    position: bind(sql`select @@global.gtid_binlog_pos`),
    wait: (position, milliseconds) =>
      sql`set statement max_statement_time = 0 for select master_gtid_wait(${position}, ${seconds(milliseconds)})`,
  },
  MySQL: {
    identity: bind(
      sql`select @@global.server_uuid, @@global.log_bin and @@global.gtid_mode = 'ON', database()`,
    ),
    name: 'server_uuid',
    absent: 'the primary must have a binary log and gtid_mode = ON',
    position: bind(sql`select @@global.gtid_executed`),
    wait(position, milliseconds) {
      // A wait of 0 seconds would have no end.
      if (milliseconds === 0)
        return sql`select not gtid_subset(${position}, @@global.gtid_executed)`
      // The limit of other statements would end the wait with an error.
      const limit = raw(`/*+ max_execution_time(${milliseconds + graceMilliseconds}) */`)
      return sql`select ${limit} wait_for_executed_gtid_set(${position}, ${seconds(milliseconds)})`
    },
  },
}

const graceMilliseconds = 1_000

function seconds(milliseconds: number): Sql {
  return raw(String(milliseconds / 1_000))
}

const version = bind(sql`select version()`)

interface Identity {
  readonly kind: MysqlServer
  readonly server: unknown
  readonly hasLog: boolean
  readonly database: unknown
}

/**
 * Returns replication of MariaDB or MySQL by global transaction identifiers. A replica does not say whose it is, apart
 * from privileges of administrators.
 *
 * @param primary returns the kind of the primary, after its first connection
 */
export function mysqlReplication(primary: () => MysqlServer): Replication<Identity> {
  return {
    option: 'mysqlStorage.reads',
    errors: mysqlErrors,
    isOutage: (error) => isLost(error) || [1040, 1203, 1226].includes(Number(numberOf(error))),
    isTimeout: (error) => [1969, 3024].includes(Number(numberOf(error))),
    async identify(connection) {
      const [[found] = []] = await connection.rows(version)
      const kind = String(found).includes('MariaDB') ? 'MariaDB' : 'MySQL'
      const [[server, log, database] = []] = await connection.rows(logs[kind].identity)
      return { kind, server, hasLog: log === '1', database }
    },
    mistake({ kind, ...here }, found) {
      const { name, absent } = logs[kind]
      if (found.kind !== kind) return `the server must be ${kind}, as the primary is`
      if (!here.hasLog) return absent
      if (found.server === here.server) {
        return `the server has the ${name} of the primary, so that it is not a replica`
      }
      if (found.database === here.database) return undefined
      return `its database must be ${String(here.database)}, not ${String(found.database)}`
    },
    async position(connection) {
      const [[position] = []] = await connection.rows(logs[primary()].position)
      return String(position)
    },
    async reaches(connection, position, maxWait) {
      const { wait } = logs[primary()]
      const [[late] = []] = await connection.rows(bind(wait({ read: () => position }, maxWait)))
      return late === '0'
    },
  }
}

function numberOf(error: unknown): unknown {
  return (error as { readonly errno?: unknown }).errno
}
