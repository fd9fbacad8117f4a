import type { ServerFacts, ServerHistory } from '../pool/server-watch.ts'
import { isLost } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type { PostgresCommand, PostgresQuery, PostgresResult } from './pool.ts'
import { statementNames, type StatementNames } from './statement-names.ts'

/** What is known of a connection as long as it exists. */
export interface Session {
  /**
   * The statements that it has prepared. Undefined if a pooler is in between, such as PgBouncer: then each
   * transaction may run on another connection of the server.
   */
  readonly names: StatementNames | undefined
  /** The statements that follow the begin of each transaction. Empty, or it begins with a semicolon. */
  readonly inTransaction: string
  readonly server: ServerFacts
}

// The text that the server writes, and the meaning of the text that it reads, depend on these.
const formats = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'iso_8601',
  extra_float_digits: '1',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
} as const

const names = Object.keys(formats) as readonly (keyof typeof formats)[]
const wanted = names.map((name) => formats[name]).join('\n')
// A server that was restarted, or replaced by another one, has another time.
const found = `select concat_ws(e'\\n', ${names.map((name) => `current_setting('${name}')`).join(', ')}) as formats,
  pg_postmaster_start_time()::text as identity, pg_is_in_recovery()::text as recovery`

/**
 * Sends statements. Of several, resolves with the result of the last one. The connection is lost if the server does not
 * answer within `limit` milliseconds. Default: it may take any time.
 */
export type Send = (
  query: PostgresQuery | PostgresCommand,
  limit?: number,
) => Promise<PostgresResult>

/** A new connection. */
export interface NewConnection {
  readonly send: Send
  /** The process of the server, as the client knows it. */
  readonly processID: number | null | undefined
  /** Begins the names of its statements, and of no others. */
  readonly prefix: string
}

/**
 * Gives a new connection its settings. Through a pooler, settings of the session would reach other clients, so they
 * are set in each transaction. Rejects if the server does not take them.
 */
export async function openSession(
  { send, processID, prefix }: NewConnection,
  { statementTimeout, lockTimeout, idleTimeout, acquireTimeout }: CompletePostgres,
): Promise<Session> {
  const all = {
    ...formats,
    // The server would compile statements that read the catalogue, which takes longer than to run them.
    jit: 'off',
    statement_timeout: String(statementTimeout),
    lock_timeout: String(lockTimeout),
    idle_in_transaction_session_timeout: String(idleTimeout),
  }
  const set = (scope: string): string =>
    Object.entries(all)
      .map(([name, value]) => `; set ${scope} ${name} = '${value}'`)
      .join('')
  const row = async (text: string): Promise<Readonly<Record<string, unknown>>> => {
    const { rows } = await send({ text }, acquireTimeout)
    return rows[0] as Record<string, unknown>
  }
  // A pooler has identifiers of its own for its clients.
  if (Number((await row('select pg_backend_pid() as pid'))['pid']) === processID) {
    const server = serverOf(await row(`${set('session').slice(1)}; ${found}`))
    return { names: statementNames(prefix), inTransaction: '', server }
  }
  const inTransaction = set('local')
  const server = serverOf(await row(`begin${inTransaction}; ${found}`))
  await send({ text: 'commit' }, acquireTimeout)
  return { names: undefined, inTransaction, server }
}

// The log of a standby has no timeline of its own. Other databases with the protocol of PostgreSQL may have none.
const history = `select system_identifier::text as cluster,
  ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint::text as timeline from pg_control_system()`

/** Returns the history of the server of a new connection. Undefined: the server does not say. */
export async function historyOf(
  send: Send,
  { acquireTimeout }: CompletePostgres,
): Promise<ServerHistory | undefined> {
  try {
    const { rows } = await send({ text: history }, acquireTimeout)
    const { cluster, timeline } = rows[0] as Readonly<Record<string, unknown>>
    return { cluster: String(cluster), timeline: Number(timeline) }
  } catch (error) {
    if (isLost(error)) throw error
    return undefined
  }
}

/** Why a server in recovery accepts no writes. */
export const inRecovery = 'is in recovery, as a standby is'

function serverOf(row: Readonly<Record<string, unknown>>): ServerFacts {
  requireFormats(String(row['formats']))
  const readOnly = row['recovery'] === 'true' ? inRecovery : undefined
  return { identity: String(row['identity']), readOnly }
}

function requireFormats(text: string): void {
  if (text === wanted) return
  const values = text.split('\n')
  const [index = 0] = names.flatMap((name, at) => (formats[name] === values[at] ? [] : [at]))
  const name = names[index] as keyof typeof formats
  throw new Error(
    `A connection does not keep its settings: ${name} is ${values[index]}, but must be ${formats[name]}.`,
  )
}
