import { clientConnections, type PoolClient } from '../pool/clients.ts'
import type { BoundStatement, Connection, Connections, TextRow } from '../pool/connection.ts'
import type { BoundValue } from '../sql/fragments.ts'
import {
  notWritable,
  serverWatch,
  type ServerFacts,
  type ServerWatch,
} from '../pool/server-watch.ts'
import type { MysqlServer } from './dialect.ts'
import { isLost } from './failure.ts'
import type { CompleteMysql } from './options.ts'
import {
  clientPoolOf,
  takeClient,
  type MysqlClient,
  type MysqlField,
  type MysqlPool,
} from './pool.ts'
import { openSession, readOnlyNow, sortBytes } from './session.ts'

/** The connections of a pool to MariaDB or MySQL. */
export interface MysqlConnections extends Connections {
  /** Returns the kind of the server. Throws before the first connection. */
  server(): MysqlServer
}

// How long a server may take to end a statement itself.
const graceMilliseconds = 2_000

// A sort by up to 64 strings gets this much for its statement alone.
const maxSortBytes = 67_108_864

/**
 * For how long a server counts as one that accepts writes, as a share of `maxStaleness`: it may become a replica while
 * its connections stay open.
 */
export const checkedShare = 1 / 4

/**
 * Returns the connections of a pool, each with the settings that the storage needs. `watch` decides which servers are
 * used. Default: all.
 */
export function mysqlConnections(
  given: MysqlPool,
  options: CompleteMysql,
  watch: ServerWatch = serverWatch(),
): MysqlConnections {
  const pool = clientPoolOf(given)
  const known = new WeakMap<MysqlClient, PoolClient>()
  const checkedFor = options.maxStaleness * checkedShare
  const statementSeconds = options.statementTimeout / 1_000
  let server: MysqlServer | undefined

  const own = clientConnections(
    () =>
      takeClient(pool, (client) => {
        const own = known.get(client) ?? knownClient(client)
        known.set(client, own)
        return own
      }),
    {
      acquireTimeout: options.acquireTimeout,
      maxConnections: pool.config?.connectionLimit,
      idleConnections: () => pool._freeConnections?.length,
    },
  )

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

  function knownClient(client: MysqlClient): PoolClient {
    let isBroken = false
    let settled: Connection | undefined
    let mark = 0
    let checkedAt = 0
    const broken = (): void => {
      isBroken = true
    }
    // Without a listener, the loss of a connection could end the process.
    client.on('error', broken)
    const idle = idleTimer(() => {
      broken()
      destroy(client)
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
    // Of a statement that no request has sent.
    const sendOwn = (text: string): Promise<unknown> => send(text, options.acquireTimeout)
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
    const connectionTo = (found: ServerFacts): Connection => ({
      session: client,
      server: found,
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
    })

    async function settle(): Promise<Connection> {
      try {
        checkedAt = performance.now()
        const session = await openSession(sendOwn, options)
        mark = watch.admit(session.server)
        server = session.kind
        settled = connectionTo(session.server)
        return settled
      } catch (error) {
        broken()
        throw error
      }
    }

    /** Returns whether its server may have become a replica, or be one from which the address leads away. */
    function mustBeChecked(): boolean {
      if (!watch.requiresWrites()) return false
      return !watch.isCurrent(mark) || performance.now() - checkedAt >= checkedFor
    }

    async function checked(connection: Connection): Promise<Connection> {
      const before = watch.mark()
      const began = performance.now()
      const readOnly = await readOnlyNow(sendOwn)
      if (readOnly !== undefined) {
        broken()
        throw notWritable(readOnly)
      }
      mark = before
      checkedAt = began
      return connection
    }

    return {
      connection() {
        idle.stop()
        if (settled === undefined) return settle()
        return mustBeChecked() ? checked(settled) : settled
      },
      isBroken: () => isBroken,
      release() {
        idle.stop()
        if (isBroken) destroy(client)
        else client.release()
      },
    }
  }

  return {
    ...own,
    server() {
      if (server === undefined) throw new Error('There was no connection yet.')
      return server
    },
  }
}

function needsSortMemory(error: unknown): boolean {
  return (error as { readonly errno?: unknown }).errno === 1038
}

function sendTo(client: MysqlClient, sql: string, limit: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      destroy(client)
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

function destroy(client: MysqlClient): void {
  client.destroy()
  client.stream?.destroy?.()
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
