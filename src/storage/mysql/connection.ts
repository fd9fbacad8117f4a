import { clientConnections, type PoolClient } from '../sql/clients.ts'
import type { BoundStatement, Connection, Connections, TextRow } from '../sql/connection.ts'
import type { BoundValue } from '../sql/fragments.ts'
import { exactCollations, type MysqlServer } from './dialect.ts'
import { isLost } from './failure.ts'
import type { CompleteMysql } from './options.ts'
import { clientPoolOf, type MysqlClient, type MysqlField, type MysqlPool } from './pool.ts'

/** A client of the pool, with what is known of it. */
interface KnownClient extends PoolClient {
  /** Called when the pool has handed it out. */
  take(): void
}

/** The connections of a pool to MariaDB or MySQL. */
export interface MysqlConnections extends Connections {
  /** Returns the kind of the server. Throws before the first connection. */
  server(): MysqlServer
}

// How long a server may take to end a statement itself.
const graceMilliseconds = 2_000

// A sort by two strings needs this much. One by up to 64 strings gets more for its statement alone.
const sortBytes = 'cast(greatest(@@global.sort_buffer_size, 2097152) as unsigned)'
const maxSortBytes = 67_108_864

const modes =
  'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'

// The connection must send and receive texts in UTF-8, which the server knows as utf8mb4.
const sample = 'é\u{1f600}'

/** Returns the connections of a pool, each with the settings that the storage needs. */
export function mysqlConnections(given: MysqlPool, options: CompleteMysql): MysqlConnections {
  const pool = clientPoolOf(given)
  const known = new WeakMap<MysqlClient, KnownClient>()
  const statementSeconds = options.statementTimeout / 1_000
  let server: MysqlServer | undefined

  const { use, close } = clientConnections(
    () =>
      new Promise((resolve, reject) => {
        pool.getConnection((error, client) => {
          if (error) {
            reject(error)
            return
          }
          const own = known.get(client) ?? knownClient(client)
          known.set(client, own)
          own.take()
          resolve(own)
        })
      }),
    options.acquireTimeout,
  )

  async function settle(send: (text: string) => Promise<unknown>): Promise<void> {
    const [[version]] = (await send('select version()')) as [[string]]
    const own: MysqlServer = version.includes('MariaDB') ? 'MariaDB' : 'MySQL'
    await send(`set names utf8mb4 collate ${exactCollations[own]}`)
    await send(`set session transaction isolation level ${isolation[own]}`)
    const settings = { ...commonSettings(options), ...ownSettings[own](options) }
    const assignments = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    try {
      await send(`set session ${assignments.join(', ')}`)
    } catch (error) {
      throw isUnknownSetting(error) ? settingMistake(version, error) : error
    }
    const [checked] = (await send(
      `select @@session.time_zone, @@session.sql_mode, hex('${sample}'), '${sample}'`,
    )) as [readonly string[]]
    const [zone, mode = '', bytes, text] = checked
    if (bytes !== Buffer.from(sample).toString('hex').toUpperCase() || text !== sample) {
      throw new TypeError(
        "mysqlStorage: the pool does not send texts in UTF-8. Remove its option charset, or set it to 'utf8mb4'.",
      )
    }
    if (zone !== '+00:00' || !modes.split(',').every((each) => mode.split(',').includes(each))) {
      throw new TypeError(
        'mysqlStorage: the settings of a connection were not kept. Connect to the server without a proxy that shares connections.',
      )
    }
    server = own
  }

  /** Returns what ends a connection between two statements. MariaDB does that itself. */
  function idleTimer(end: () => void): { readonly start: () => void; readonly stop: () => void } {
    let timer: NodeJS.Timeout | undefined
    return {
      start() {
        if (server === 'MySQL') timer = setTimeout(end, options.idleTimeout)
      },
      stop: () => clearTimeout(timer),
    }
  }

  function knownClient(client: MysqlClient): KnownClient {
    let isBroken = false
    let isSettled = false
    const broken = (): void => {
      isBroken = true
    }
    const idle = idleTimer(() => {
      broken()
      client.destroy()
    })
    const limit = options.statementTimeout + graceMilliseconds
    const send = async (text: string, longest = limit): Promise<unknown> => {
      idle.stop()
      try {
        return await sendTo(client, text, longest)
      } catch (error) {
        if (isLost(error)) broken()
        throw error
      } finally {
        idle.start()
      }
    }
    const rows = async (text: string): Promise<unknown> => {
      try {
        return await send(text)
      } catch (error) {
        if (!needsSortMemory(error)) throw error
      }
      await send(`set session sort_buffer_size = ${maxSortBytes}`)
      try {
        return await send(text)
      } finally {
        await send(`set session sort_buffer_size = ${sortBytes}`)
      }
    }
    const connection: Connection = {
      session: client,
      rows: async (statement) => (await rows(textOf(statement))) as readonly TextRow[],
      matched: async (statement) => matchedIn(await send(textOf(statement))),
      command: async (...texts) => {
        for (const text of texts) await send(text)
        return ''
      },
      async change(text) {
        if (server === 'MariaDB') await send('set session max_statement_time = 0')
        await send(text, Infinity)
        if (server === 'MariaDB') await send(`set session max_statement_time = ${statementSeconds}`)
      },
      discard: broken,
    }

    async function settled(): Promise<Connection> {
      try {
        await settle(send)
      } catch (error) {
        broken()
        throw error
      }
      isSettled = true
      return connection
    }

    return {
      // Without a listener, the loss of a connection in use could end the process.
      take: () => client.on('error', broken),
      connection() {
        idle.stop()
        return isSettled ? connection : settled()
      },
      isBroken: () => isBroken,
      release() {
        idle.stop()
        client.removeListener('error', broken)
        if (isBroken) client.destroy()
        else client.release()
      },
    }
  }

  return {
    use,
    close,
    server() {
      if (server === undefined) throw new Error('There was no connection yet.')
      return server
    },
  }
}

const isolation: Readonly<Record<MysqlServer, string>> = {
  MariaDB: 'repeatable read',
  // Its repeatable read lets two transactions change a row that both have read.
  MySQL: 'serializable',
}

type Settings = Readonly<Record<string, string | number>>

function commonSettings({ lockTimeout, wsrepSyncWait }: CompleteMysql): Settings {
  const seconds = Math.ceil(lockTimeout / 1_000)
  return {
    sql_mode: `'${modes}'`,
    time_zone: `'+00:00'`,
    lc_messages: `'en_US'`,
    autocommit: 1,
    completion_type: 0,
    sql_auto_is_null: 0,
    foreign_key_checks: 1,
    unique_checks: 1,
    sql_select_limit: 'default',
    // Otherwise only the first 1024 bytes of a string are sorted.
    max_sort_length: 65_536,
    sort_buffer_size: sortBytes,
    innodb_lock_wait_timeout: seconds,
    lock_wait_timeout: seconds,
    ...(wsrepSyncWait === undefined ? {} : { wsrep_sync_wait: wsrepSyncWait }),
  }
}

const ownSettings: Readonly<Record<MysqlServer, (options: CompleteMysql) => Settings>> = {
  MariaDB: ({ statementTimeout, idleTimeout }) => ({
    innodb_snapshot_isolation: 1,
    check_constraint_checks: 1,
    default_regex_flags: `''`,
    // It takes the result of a subquery for 'a' as that for 'A' if the collation ignores case, whatever is compared.
    optimizer_switch: `'subquery_cache=off'`,
    max_statement_time: statementTimeout / 1_000,
    idle_transaction_timeout: Math.ceil(idleTimeout / 1_000),
  }),
  MySQL: ({ statementTimeout }) => ({ max_execution_time: statementTimeout }),
}

function needsSortMemory(error: unknown): boolean {
  return (error as { readonly errno?: unknown }).errno === 1038
}

function isUnknownSetting(error: unknown): boolean {
  return (error as { readonly errno?: unknown }).errno === 1193
}

function settingMistake(version: string, cause: unknown): TypeError {
  const { sqlMessage } = cause as { readonly sqlMessage?: unknown }
  const reason = String(sqlMessage)
  const advice = reason.includes('innodb_snapshot_isolation')
    ? 'Without this setting, two requests can overwrite the changes of each other. Update the server to MariaDB 10.6.18, 10.11.8, 11.4 or later.'
    : 'Update the server, or remove the option.'
  return new TypeError(`mysqlStorage: ${reason} in the server ${version}. ${advice}`, { cause })
}

function sendTo(client: MysqlClient, sql: string, limit: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      client.destroy()
      const message = `the server did not respond within ${limit} ms`
      reject(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
    }
    const timer = limit === Infinity ? undefined : setTimeout(late, limit)
    client.query({ sql, rowsAsArray: true, typeCast: textOfField }, (error, result) => {
      clearTimeout(timer)
      if (error instanceof Error) reject(error)
      else resolve(result)
    })
  })
}

// The driver would read some doubles with another last digit.
function textOfField(field: MysqlField): string | null {
  return field.string()
}

// Statements without preparation are faster here: their rows are texts already.
function textOf({ sql: { texts }, values }: BoundStatement): string {
  return texts.reduce((joined, part, index) => `${joined}${written(values[index - 1])}${part}`)
}

/** Returns a value as SQL writes it. A quote is doubled, so that it ends no string in any mode of the server. */
function written(value: BoundValue | undefined): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value !== 'string') return String(value)
  return `'${value.replace(/['\\]/g, '$&$&')}'`
}

// Whether the driver counts the rows that are found or those that change depends on its flags; the text has both.
function matchedIn(result: unknown): number {
  const { info = '', affectedRows = 0 } = result as { info?: string; affectedRows?: number }
  return Number(/\d+/.exec(info)?.[0] ?? affectedRows)
}
