import type { ServerFacts } from '../pool/server-watch.ts'
import { exactCollations, type MysqlServer } from './dialect.ts'
import type { CompleteMysql } from './options.ts'
import { firstRow } from './pool.ts'

/** Sends a statement, and resolves with its rows. */
export type Send = (text: string) => Promise<unknown>

/** What is known of a connection as long as it exists. */
export interface Session {
  readonly kind: MysqlServer
  readonly server: ServerFacts
}

/** The memory of a sort, as an expression: what a sort by two strings needs. */
export const sortBytes = 'cast(greatest(@@global.sort_buffer_size, 2097152) as unsigned)'

const modes =
  'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'

// The connection must send and receive texts in UTF-8, which the server knows as utf8mb4.
const sample = 'é\u{1f600}'

const writeModes = '@@global.read_only, @@global.innodb_read_only'

/** Gives a new connection its settings, and returns what its server is. Rejects if the server does not take them. */
export async function openSession(send: Send, options: CompleteMysql): Promise<Session> {
  const [version, identity = '', ...found] = firstRow(
    await send(`select version(), concat_ws(' ', @@hostname, @@port, @@server_id), ${writeModes}`),
  )
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
  return { kind: own, server: { identity, readOnly: readOnlyIn(found) } }
}

/** Returns why the server of a connection accepts no writes. Undefined: it does. */
export async function readOnlyNow(send: Send): Promise<string | undefined> {
  const [found] = (await send(`select ${writeModes}`)) as [readonly string[]]
  return readOnlyIn(found)
}

// Newer servers of MariaDB have words for the modes.
function readOnlyIn(found: readonly string[]): string | undefined {
  const accepts = found.every((mode) => mode === '0' || mode === 'OFF')
  return accepts ? undefined : 'is read-only, as a replica is'
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
