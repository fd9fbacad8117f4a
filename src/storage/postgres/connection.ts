import { runtime } from '../../runtime.ts'
import { ClientConnections, type PoolClient } from '../pool/clients.ts'
import type { Connection, Connections } from '../pool/connection.ts'
import { notAnswered, unavailable } from '../pool/failure.ts'
import { serverWatch, type ServerFacts, type ServerWatch } from '../pool/server-watch.ts'
import { answerCheck, isLong, watchSilence, type AnswerCheck } from '../pool/silent-server.ts'
import { StatementLimit } from '../pool/statement-limit.ts'
import { isLost } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type { PostgresClient, PostgresPool, PostgresResult } from './pool.ts'
import { PreparedConnection } from './prepared-connection.ts'
import { historyOf, openSession, type Send, type Session } from './session.ts'

// The server ends a statement after its own time-out. If it does not answer then, it can't be reached.
const graceMilliseconds = 1_000

/** What the clients of a pool have in common. */
interface PoolContext {
  readonly options: CompletePostgres
  readonly watch: ServerWatch
  /** Begins the names of prepared statements. */
  readonly prefix: string
  readonly check: AnswerCheck
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
  // A pool may have had another storage before.
  const prefix = `rowgate_${runtime.randomUUID().slice(0, 8)}`
  const check = answerCheck(() => own, isLost)
  const context: PoolContext = { options, watch, prefix, check }
  // Without a listener, the loss of an idle connection would end the process, even after `close`. One listener is enough
  // for all storages that the pool has had.
  pool.removeListener('error', ignore)
  pool.on('error', ignore)

  const clientOf = (client: PostgresClient): KnownClient => {
    const own = known.get(client) ?? new KnownClient(client, context)
    known.set(client, own)
    return own
  }
  const own = new ClientConnections(() => takeClient(pool, clientOf), {
    acquireTimeout: options.acquireTimeout,
    maxConnections: pool.options?.max,
    idleConnections: () => pool.idleCount,
  })
  return own
}

function takeClient(
  pool: PostgresPool,
  clientOf: (client: PostgresClient) => KnownClient,
): Promise<KnownClient> {
  return new Promise((resolve, reject) => {
    const connect = (): void =>
      pool.connect((error, client) => {
        if (client === undefined) {
          reject(error ?? new Error('the pool returned no connection'))
          return
        }
        const own = clientOf(client)
        // A promise would do it too late: the driver may be reading the bytes that report a loss.
        own.take()
        if (own.isOutdated()) {
          own.release()
          connect()
        } else resolve(own)
      })
    connect()
  })
}

/** A client of the pool, with its connection and the state of this connection. */
class KnownClient implements PoolClient {
  readonly #client: PostgresClient
  readonly #context: PoolContext
  readonly #line: Line
  #session: Session | undefined
  #connection: Connection | undefined
  #lacksSettings = false
  #mark: number | undefined

  constructor(client: PostgresClient, context: PoolContext) {
    this.#client = client
    this.#context = context
    this.#line = new Line(client, (silent) =>
      watchSilence(context.check, silent, () => this.isOutdated()),
    )
  }

  /** Called when the pool has handed it out. */
  take(): void {
    // Without a listener, the loss of a connection in use would end the process.
    this.#client.on('error', this.#line.lose)
  }

  connection(): Connection | Promise<Connection> {
    return this.#connection ?? this.#open()
  }

  /** Returns whether new connections lead to another server. */
  isOutdated(): boolean {
    return this.#mark !== undefined && !this.#context.watch.isCurrent(this.#mark)
  }

  isBroken(): boolean {
    const isUnfit = this.#line.isLost() || this.#lacksSettings || this.isOutdated()
    return isUnfit || this.#session?.names?.isWorn() === true
  }

  release(): void {
    const client = this.#client
    client.removeListener('error', this.#line.lose)
    client.release(this.isBroken())
    if (this.#line.isLost() || this.isOutdated()) client.connection?.stream?.destroy?.()
  }

  async #open(): Promise<Connection> {
    const { options, prefix, watch } = this.#context
    const { send, lose } = this.#line
    this.#lacksSettings = true
    const session = await openSession({ send, processID: this.#client.processID, prefix }, options)
    this.#session = session
    // Behind a pooler, each transaction may lead to another server, and checks that.
    if (session.names !== undefined) this.#mark = await this.#admit(session.server)
    this.#lacksSettings = false
    const limit = new StatementLimit(options.statementTimeout, graceMilliseconds)
    const pipelines = this.#client.pipeline === true
    this.#connection = new PreparedConnection(session, { send, lose, watch, limit, pipelines })
    return this.#connection
  }

  async #admit(server: ServerFacts): Promise<number> {
    const { options, watch } = this.#context
    const history = watch.isOther(server) ? await historyOf(this.#line.send, options) : undefined
    return watch.admit(server, history)
  }
}

/** A way to send statements, until the connection is lost. */
class Line {
  readonly #client: PostgresClient
  readonly #watch: (silent: () => void) => () => void
  #isLost = false

  /** `watch` calls a function when the server is silent, until the function that it returns is called. */
  constructor(client: PostgresClient, watch: (silent: () => void) => () => void) {
    this.#client = client
    this.#watch = watch
  }

  // The promises of `pg` refer to each other, so that the garbage collector frees results late.
  readonly send: Send = (query, limit) =>
    new Promise((resolve, reject) => {
      // The driver would wait for the statement before, which has no end.
      if (this.#isLost) {
        reject(unavailable(new Error('the connection is lost')))
        return
      }
      const began = runtime.performanceNow()
      const late = (): void => {
        this.lose()
        reject(notAnswered(runtime.performanceNow() - began))
      }
      // The timer of `pg` would refer to the result, which the garbage collector then frees late.
      const timer = limit === undefined ? undefined : runtime.setTimeout(late, limit)
      const endWatch = isLong(limit) ? this.#watch(late) : undefined
      this.#client.query(query, (error, result) => {
        runtime.clearTimeout(timer)
        endWatch?.()
        if (error) {
          if (isLost(error)) this.lose()
          reject(error)
        } else resolve(Array.isArray(result) ? lastOf(result) : result)
      })
    })

  /** Notes that the connection can't be used any longer. */
  readonly lose = (): void => {
    this.#isLost = true
  }

  isLost(): boolean {
    return this.#isLost
  }
}

function lastOf(results: readonly PostgresResult[]): PostgresResult {
  return results.at(-1) as PostgresResult
}

function ignore(): void {
  // The next statement of the connection is rejected.
}
