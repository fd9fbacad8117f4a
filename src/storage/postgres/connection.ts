import { randomUUID } from 'node:crypto'
import { StorageError } from '../adapter.ts'
import { clientConnections, type PoolClient } from '../pool/clients.ts'
import type { BoundStatement, Connection, Connections, TextRow } from '../pool/connection.ts'
import { unavailable } from '../pool/failure.ts'
import type { Sql } from '../sql/fragments.ts'
import { notWritable, serverWatch, type ServerWatch } from '../pool/server-watch.ts'
import { isLost, isOutdated } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './pool.ts'
import { inRecovery, openSession, type Send, type Session } from './session.ts'

// Fails on a standby, with an error that no other part of a begin has.
const requireNoRecovery = '; select 1 / (not pg_is_in_recovery())::int'
const divisionByZero = '22012'

const types = { getTypeParser: () => unchanged }
// The server ends a statement after its own time-out. If it does not answer then, it can't be reached.
const graceMilliseconds = 1_000

function unchanged(value: string): string {
  return value
}

/** A client of the pool, with what is known of it. */
interface KnownClient extends PoolClient {
  /** Called when the pool has handed it out. */
  take(): void
  /** Returns whether new connections lead to another server. */
  isOutdated(): boolean
}

/** A way to send statements, until the connection is lost. */
interface Line {
  readonly send: Send
  /** Notes that the connection can't be used any more. */
  readonly lose: () => void
  readonly isLost: () => boolean
}

/**
 * Returns the connections of a pool, each with the settings that the storage needs. `watch` decides which servers are
 * used. Default: all.
 */
export function connections(
  pool: PostgresPool,
  options: CompletePostgres,
  watch: ServerWatch = serverWatch(),
): Connections {
  const known = new WeakMap<PostgresClient, KnownClient>()
  const texts = new WeakMap<Sql, string>()
  // A pool may have had another storage before.
  const prefix = `rowgate_${randomUUID().slice(0, 8)}`
  // Without a listener, the loss of an idle connection would end the process, also after `close`. One is enough for all
  // storages that the pool has had.
  pool.removeListener('error', ignore)
  pool.on('error', ignore)

  const { acquireTimeout } = options
  return clientConnections(take, {
    acquireTimeout,
    maxConnections: pool.options?.max,
    idleConnections: () => pool.idleCount,
  })

  function take(): Promise<KnownClient> {
    return new Promise((resolve, reject) => {
      const connect = (): void =>
        pool.connect((error, client) => {
          if (client === undefined) {
            reject(error ?? new Error('the pool gave no connection'))
            return
          }
          const own = known.get(client) ?? knownClient(client)
          known.set(client, own)
          // A promise would do it too late: the news of a loss may be in the bytes that the driver is reading.
          own.take()
          if (own.isOutdated()) {
            own.release()
            connect()
          } else resolve(own)
        })
      connect()
    })
  }

  function textOf(sql: Sql): string {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = sql.texts.reduce((joined, part, index) => `${joined}$${index}${part}`)
    texts.set(sql, text)
    return text
  }

  function knownClient(client: PostgresClient): KnownClient {
    const line = lineTo(client)
    let session: Session | undefined
    let connection: Connection | undefined
    let lacksSettings = false
    let mark: number | undefined

    async function opened(): Promise<Connection> {
      lacksSettings = true
      session = await openSession({ send: line.send, processID: client.processID, prefix }, options)
      // Behind a pooler, each transaction may lead to another server, and checks that.
      if (session.names !== undefined) mark = watch.admit(session.server)
      lacksSettings = false
      connection = connectionOf(session, line.send, line.lose)
      return connection
    }

    const isOutdated = (): boolean => mark !== undefined && !watch.isCurrent(mark)
    const isBroken = (): boolean =>
      line.isLost() || lacksSettings || isOutdated() || session?.names?.isWorn() === true
    return {
      // Without a listener, the loss of a connection in use would end the process.
      take: () => client.on('error', line.lose),
      connection: () => connection ?? opened(),
      isOutdated,
      isBroken,
      release() {
        client.removeListener('error', line.lose)
        client.release(isBroken())
        if (line.isLost() || isOutdated()) client.connection?.stream?.destroy?.()
      },
    }
  }

  function connectionOf(session: Session, send: Send, discard: () => void): Connection {
    const { names, inTransaction, server } = session
    const limit = options.statementTimeout + graceMilliseconds
    let hasBegun = false
    let isLimited = true

    /** Returns what follows each begin. What follows it overrides the settings. */
    function afterBegin(): string {
      const isChecked = names === undefined && watch.requiresWrites()
      return isChecked ? inTransaction + requireNoRecovery : inTransaction
    }

    function throwBegin(error: unknown): never {
      if ((error as { readonly code?: unknown }).code !== divisionByZero) throw error
      discard()
      throw notWritable(inRecovery)
    }

    async function command(...texts: readonly string[]): Promise<string> {
      const text = texts.join('; ')
      const begins = text.startsWith('begin')
      if (begins) isLimited = !text.includes('statement_timeout = 0')
      const all = begins ? text.replace(/^[^;]*/, (begin) => begin + afterBegin()) : text
      const sent = send({ text: all }, isLimited ? limit : undefined)
      const result = await (begins ? sent.catch(throwBegin) : sent)
      if (begins) hasBegun = true
      if (text === 'commit' || text === 'rollback') {
        hasBegun = false
        isLimited = true
      }
      return result.command
    }

    function query(
      { values }: BoundStatement,
      text: string,
      name?: string,
    ): Promise<PostgresResult> {
      const sent: PostgresQuery = { text, values, rowMode: 'array', types }
      if (name !== undefined) sent.name = name
      return send(sent, limit)
    }

    function named(statement: BoundStatement, text: string): Promise<PostgresResult> {
      const name = statement.isPlannedByValues === true ? undefined : names?.nameOf(text)
      if (name === undefined) return query(statement, text)
      return query(statement, text, name).catch((error: unknown) => {
        if (!isOutdated(error)) throw error
        names?.forget(text)
        // The server rejects the rest of the transaction, but it can be repeated.
        if (hasBegun) throw new StorageError('unavailable', { cause: error, isConflict: true })
        return query(statement, text)
      })
    }

    async function endUnused(unused: readonly string[]): Promise<void> {
      // The server may have ended them already.
      for (const name of unused) await command(`deallocate ${name}`).catch(ignore)
    }

    async function separately(statement: BoundStatement, text: string): Promise<PostgresResult> {
      await command('begin isolation level repeatable read read only')
      try {
        const rows = await query(statement, text)
        await command('commit')
        return rows
      } catch (error) {
        await command('rollback').catch(discard)
        throw error
      }
    }

    function result(statement: BoundStatement): Promise<PostgresResult> {
      const text = textOf(statement.sql)
      if (names === undefined)
        return hasBegun ? query(statement, text) : separately(statement, text)
      const unused = hasBegun ? [] : names.unused()
      if (unused.length === 0) return named(statement, text)
      return endUnused(unused).then(() => named(statement, text))
    }

    return {
      ...(names !== undefined && { session }),
      server,
      rows: (statement) => result(statement).then(rowsOf),
      matched: async (statement) => (await result(statement)).rowCount ?? 0,
      command,
      change: command,
      discard,
    }
  }
}

// The promises of `pg` refer to each other, so that the garbage collector frees results late.
function lineTo(client: PostgresClient): Line {
  let isBroken = false
  const lose = (): void => {
    isBroken = true
  }
  const send: Send = (query, limit) =>
    new Promise((resolve, reject) => {
      // The driver would wait for the statement before, which has no end.
      if (isBroken) {
        reject(unavailable(new Error('the connection is lost')))
        return
      }
      const late = (): void => {
        lose()
        reject(new Error('Query read timeout'))
      }
      // The timer of `pg` would refer to the result, which the garbage collector then frees late.
      const timer = limit === undefined ? undefined : setTimeout(late, limit)
      client.query(query, (error, result) => {
        clearTimeout(timer)
        if (error) {
          if (isLost(error)) lose()
          reject(error)
        } else resolve(Array.isArray(result) ? lastOf(result) : result)
      })
    })
  return { send, lose, isLost: () => isBroken }
}

function lastOf(results: readonly PostgresResult[]): PostgresResult {
  return results.at(-1) as PostgresResult
}

function rowsOf({ rows }: PostgresResult): readonly TextRow[] {
  return rows as readonly TextRow[]
}

function ignore(): void {
  // The next statement of the connection is rejected.
}
