import { randomUUID } from 'node:crypto'
import { StorageError } from '../adapter.ts'
import { clients } from '../sql/clients.ts'
import type { BoundStatement, Connection, Connections, TextRow } from '../sql/connection.ts'
import { unavailable } from '../sql/failure.ts'
import type { Sql } from '../sql/fragments.ts'
import { isLost, isOutdated } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type {
  PostgresClient,
  PostgresCommand,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './pool.ts'
import { openSession, type Send, type Session } from './session.ts'

const types = { getTypeParser: () => unchanged }
// The server ends a statement after its own time-out. If it does not answer then, it can't be reached.
const graceMilliseconds = 1_000

function unchanged(value: string): string {
  return value
}

/** Returns the connections of a pool, each with the settings that the storage needs. */
export function connections(pool: PostgresPool, options: CompletePostgres): Connections {
  const sessions = new WeakMap<PostgresClient, Session>()
  const texts = new WeakMap<Sql, string>()
  // A pool may have had another storage before.
  const prefix = `rowgate_${randomUUID().slice(0, 8)}`
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', ignore)

  const { use, close } = clients(
    {
      connect: () => pool.connect(),
      release: (client, isBroken) => client.release(isBroken),
    },
    options.acquireTimeout,
  )

  function textOf(sql: Sql): string {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = sql.texts.reduce((joined, part, index) => `${joined}$${index}${part}`)
    texts.set(sql, text)
    return text
  }

  async function run<Result>(
    client: PostgresClient,
    broken: () => void,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    let isBroken = false
    const lost = (): void => {
      isBroken = true
      broken()
    }
    // The promises of `pg` refer to each other, so that the garbage collector frees results late.
    const send: Send = (query) =>
      new Promise((resolve, reject) => {
        // The driver would wait for the statement before, which has no end.
        if (isBroken) reject(unavailable(new Error('the connection is lost')))
        else {
          const { query_timeout: limit, ...own } = query
          const late = (): void => {
            lost()
            reject(new Error('Query read timeout'))
          }
          // The timer of `pg` would refer to the result, which the garbage collector then frees late.
          const timer = limit === undefined ? undefined : setTimeout(late, limit)
          client.query(own, (error, result) => {
            clearTimeout(timer)
            if (error) {
              if (isLost(error)) lost()
              reject(error)
            } else resolve(Array.isArray(result) ? lastOf(result) : result)
          })
        }
      })
    client.on('error', lost)
    try {
      let session = sessions.get(client)
      if (session === undefined) {
        session = await openSession({ send, processID: client.processID, prefix }, options)
        sessions.set(client, session)
      }
      const result = await work(connectionOf(session, send, lost))
      if (session.names?.isWorn() === true) broken()
      return result
    } catch (error) {
      // Its settings are unknown.
      if (!sessions.has(client)) broken()
      throw error
    } finally {
      client.removeListener('error', lost)
    }
  }

  function connectionOf(session: Session, send: Send, discard: () => void): Connection {
    const { names, inTransaction } = session
    const limit = options.statementTimeout + graceMilliseconds
    let hasBegun = false
    let isLimited = true

    async function command(text: string): Promise<string> {
      const begins = text.startsWith('begin')
      if (begins) isLimited = !text.includes('statement_timeout = 0')
      // What follows the begin overrides the settings.
      const all = begins ? text.replace(/^[^;]*/, (begin) => begin + inTransaction) : text
      const sent: PostgresCommand = { text: all, ...(isLimited && { query_timeout: limit }) }
      const result = await send(sent)
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
      const sent: PostgresQuery = {
        text,
        values: [...values],
        rowMode: 'array',
        types,
        query_timeout: limit,
      }
      if (name !== undefined) sent.name = name
      return send(sent)
    }

    async function named(statement: BoundStatement, text: string): Promise<PostgresResult> {
      const name = statement.isPlannedByValues === true ? undefined : names?.nameOf(text)
      try {
        return await query(statement, text, name)
      } catch (error) {
        if (name === undefined || !isOutdated(error)) throw error
        names?.forget(text)
        // The server rejects the rest of the transaction, but it can be repeated.
        if (hasBegun) throw new StorageError('unavailable', { cause: error, isConflict: true })
      }
      return query(statement, text)
    }

    async function endUnused(): Promise<void> {
      // The server may have ended them already.
      for (const name of names?.unused() ?? []) await command(`deallocate ${name}`).catch(ignore)
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

    async function result(statement: BoundStatement): Promise<PostgresResult> {
      const text = textOf(statement.sql)
      if (names === undefined)
        return hasBegun ? query(statement, text) : separately(statement, text)
      if (!hasBegun) await endUnused()
      return named(statement, text)
    }

    return {
      ...(names !== undefined && { session }),
      rows: async (statement) => (await result(statement)).rows as readonly TextRow[],
      matched: async (statement) => (await result(statement)).rowCount ?? 0,
      command,
      change: command,
      discard,
    }
  }

  return {
    use: (work) => use((client, broken) => run(client, broken, work)),
    async close() {
      await close()
      pool.removeListener('error', ignore)
    },
  }
}

function lastOf(results: readonly PostgresResult[]): PostgresResult {
  return results.at(-1) as PostgresResult
}

function ignore(): void {
  // The next statement of the connection is rejected.
}
