import { runtime, type Timer } from '../../runtime.ts'
import { notAnswered } from '../pool/failure.ts'
import { isLong } from '../pool/silent-server.ts'
import { isLost } from './failure.ts'
import type { MysqlClient, MysqlField } from './pool.ts'

/** How long the statements and pauses of a connection may take. */
export interface LineOptions {
  /** Returns after how many milliseconds without a response a statement is given up. */
  readonly limit: () => number
  /** Returns after how many milliseconds without a statement the connection ends. Undefined: the server ends it. */
  readonly idleTimeout: () => number | undefined
  /** Calls a function when the server is silent, until the function that it returns is called. */
  readonly watch: (silent: () => void) => () => void
}

/** Whether a connection is lost. */
interface Loss {
  isNoticed: boolean
}

// Without a listener, the loss of a connection could end the process, even after its storage was closed. Each connection
// has one, however many storages its pool has.
const losses = new WeakMap<MysqlClient, Loss>()

function lossOf(client: MysqlClient): Loss {
  const known = losses.get(client)
  if (known !== undefined) return known
  const loss = { isNoticed: false }
  losses.set(client, loss)
  client.on('error', () => {
    loss.isNoticed = true
  })
  return loss
}

/** A way to send statements, until the connection is lost. */
export class MysqlLine {
  readonly client: MysqlClient
  readonly #options: LineOptions
  readonly #loss: Loss
  #idleTimer: Timer | undefined

  constructor(client: MysqlClient, options: LineOptions) {
    this.client = client
    this.#options = options
    this.#loss = lossOf(client)
  }

  /** Sends a statement. `limit` is in milliseconds; default: the limit of the options. */
  async send(text: string, limit = this.#options.limit()): Promise<unknown> {
    this.endPause()
    try {
      return await sendTo(this.client, text, limit, this.#options.watch)
    } catch (error) {
      if (isLost(error)) this.lose()
      throw error
    } finally {
      this.#beginPause()
    }
  }

  /** Notes that the connection can't be used any longer. */
  readonly lose = (): void => {
    this.#loss.isNoticed = true
  }

  isLost(): boolean {
    return this.#loss.isNoticed
  }

  /** Called before the connection is used or given back. */
  endPause(): void {
    runtime.clearTimeout(this.#idleTimer)
  }

  /** Closes the connection. */
  destroy(): void {
    destroy(this.client)
  }

  #beginPause(): void {
    const idleTimeout = this.#options.idleTimeout()
    if (idleTimeout !== undefined) this.#idleTimer = runtime.setTimeout(this.#endIdle, idleTimeout)
  }

  readonly #endIdle = (): void => {
    this.lose()
    this.destroy()
  }
}

function sendTo(
  client: MysqlClient,
  sql: string,
  limit: number,
  watch: LineOptions['watch'],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const began = runtime.performanceNow()
    const late = (): void => {
      destroy(client)
      reject(notAnswered(runtime.performanceNow() - began))
    }
    const timer = limit === Infinity ? undefined : runtime.setTimeout(late, limit)
    const endWatch = isLong(limit) ? watch(late) : undefined
    client.query({ sql, rowsAsArray: true, typeCast: textOfField }, (error, result) => {
      runtime.clearTimeout(timer)
      endWatch?.()
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
