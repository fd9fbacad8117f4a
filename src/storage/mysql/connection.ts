import { runtime } from '../../runtime.ts'
import { ClientConnections, type PoolClient } from '../pool/clients.ts'
import type { Connection, Connections } from '../pool/connection.ts'
import { notWritable, serverWatch, type ServerWatch } from '../pool/server-watch.ts'
import { answerCheck, watchSilence, type AnswerCheck } from '../pool/silent-server.ts'
import { StatementLimit } from '../pool/statement-limit.ts'
import type { MysqlServer } from './dialect.ts'
import { MysqlLine } from './line.ts'
import { isLost } from './failure.ts'
import type { CompleteMysql } from './options.ts'
import { clientPoolOf, takeClient, type MysqlClient, type MysqlPool } from './pool.ts'
import { openSession, readOnlyNow } from './session.ts'
import { TextConnection } from './text-connection.ts'

/** The connections of a pool to MariaDB or MySQL. */
export interface MysqlConnections extends Connections {
  /** Returns the kind of the server. Throws before the first connection. */
  server(): MysqlServer
}

// How long a server may take to end a statement itself.
const graceMilliseconds = 2_000

/**
 * For how long a server counts as one that accepts writes, as a share of `maxStaleness`: it may become a replica while
 * its connections stay open.
 */
export const checkedShare = 1 / 4

/** What the clients of a pool have in common. */
interface PoolContext {
  readonly options: CompleteMysql
  readonly watch: ServerWatch
  /** The kind of the server, after the first connection. */
  server: MysqlServer | undefined
  readonly check: AnswerCheck
}

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
  const check = answerCheck(() => own, isLost)
  const context: PoolContext = { options, watch, server: undefined, check }
  const clientOf = (client: MysqlClient): PoolClient => {
    const own = known.get(client) ?? new KnownClient(client, context)
    known.set(client, own)
    return own
  }
  const own = new ClientConnections(() => takeClient(pool, clientOf), {
    acquireTimeout: options.acquireTimeout,
    maxConnections: pool.config?.connectionLimit,
    idleConnections: () => pool._freeConnections?.length,
  })
  return {
    use: own.use,
    load: own.load,
    close: own.close,
    server() {
      if (context.server === undefined) throw new Error('There was no connection yet.')
      return context.server
    },
  }
}

/** A client of the pool, with its connection and the state of this connection. */
class KnownClient implements PoolClient {
  readonly #client: MysqlClient
  readonly #context: PoolContext
  readonly #line: MysqlLine
  readonly #limit: StatementLimit
  #connection: Connection | undefined
  #mark = 0
  #checkedAt = 0

  constructor(client: MysqlClient, context: PoolContext) {
    this.#client = client
    this.#context = context
    const { statementTimeout, idleTimeout } = context.options
    this.#limit = new StatementLimit(statementTimeout, graceMilliseconds)
    this.#line = new MysqlLine(client, {
      limit: () => this.#limit.maxWait(),
      // MariaDB ends a connection between two statements itself.
      idleTimeout: () => (context.server === 'MySQL' ? idleTimeout : undefined),
      // The address may lead to several nodes, so another server than before says nothing about this one.
      watch: (silent) => watchSilence(context.check, silent),
    })
  }

  connection(deadline: number | undefined): Connection | Promise<Connection> {
    this.#limit.use(deadline)
    this.#line.endPause()
    if (this.#connection === undefined) return this.#open()
    return this.#mustBeChecked() ? this.#checked(this.#connection) : this.#connection
  }

  isBroken(): boolean {
    return this.#line.isLost()
  }

  release(): void {
    this.#line.endPause()
    if (this.#line.isLost()) this.#line.destroy()
    else this.#client.release()
  }

  async #open(): Promise<Connection> {
    const { options, watch } = this.#context
    try {
      this.#checkedAt = runtime.performanceNow()
      const session = await openSession(this.#sendOwn, options)
      this.#mark = watch.admit(session.server)
      this.#context.server = session.kind
      const { statementTimeout } = options
      const limit = this.#limit
      this.#connection = new TextConnection(this.#line, session, { statementTimeout, limit })
      return this.#connection
    } catch (error) {
      this.#line.lose()
      throw error
    }
  }

  // For statements that no request has sent.
  readonly #sendOwn = (text: string): Promise<unknown> =>
    this.#line.send(text, Math.min(this.#context.options.acquireTimeout, this.#limit.maxWait()))

  /** Returns whether its server may have become a replica, or may no longer be the one at the address. */
  #mustBeChecked(): boolean {
    const { options, watch } = this.#context
    if (!watch.requiresWrites()) return false
    const checkedFor = options.maxStaleness * checkedShare
    return !watch.isCurrent(this.#mark) || runtime.performanceNow() - this.#checkedAt >= checkedFor
  }

  async #checked(connection: Connection): Promise<Connection> {
    const mark = this.#context.watch.mark()
    const began = runtime.performanceNow()
    const readOnly = await readOnlyNow(this.#sendOwn)
    if (readOnly !== undefined) {
      this.#line.lose()
      throw notWritable(readOnly)
    }
    this.#mark = mark
    this.#checkedAt = began
    return connection
  }
}
