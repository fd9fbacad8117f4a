import type { Connection, Connections, TextRow } from '../sql/connection.ts'
import { closedError, isLost, unavailable } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type { PostgresClient, PostgresPool, PostgresResult } from './pool.ts'

// The text that the server writes, and the meaning of the text that it reads, depend on these.
const settings = [
  `timezone = 'UTC'`,
  `datestyle = 'ISO, YMD'`,
  `intervalstyle = 'iso_8601'`,
  `extra_float_digits = 1`,
  `client_encoding = 'UTF8'`,
  `standard_conforming_strings = on`,
]

const types = { getTypeParser: () => unchanged }

function unchanged(value: string): string {
  return value
}

/** Returns the connections of a pool, each with the settings that the storage needs. */
export function connections(pool: PostgresPool, options: CompletePostgres): Connections {
  const settle = [
    ...settings,
    `statement_timeout = ${options.statementTimeout}`,
    `lock_timeout = ${options.lockTimeout}`,
    `idle_in_transaction_session_timeout = ${options.idleTimeout}`,
  ]
    .map((setting) => `set ${setting}`)
    .join('; ')
  const settled = new WeakSet<PostgresClient>()
  const waiting = new Set<(error: unknown) => void>()
  const inUse = new Set<Promise<unknown>>()
  let closed = false
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', ignore)

  function acquire(): Promise<PostgresClient> {
    if (closed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      let isOver = false
      const fail = (error: unknown): void => {
        isOver = true
        end()
        reject(error)
      }
      const late = (): void => {
        const time = `${options.acquireTimeout} ms`
        fail(unavailable(new Error(`no connection of the pool became free within ${time}`)))
      }
      const timer = setTimeout(late, options.acquireTimeout)
      const end = (): void => {
        clearTimeout(timer)
        waiting.delete(fail)
      }
      waiting.add(fail)
      pool.connect().then((client) => {
        end()
        if (isOver) client.release()
        else resolve(client)
      }, fail)
    })
  }

  async function run<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const client = await acquire()
    let isBroken = false
    const lost = (): void => {
      isBroken = true
    }
    const checked = async <Value>(query: () => Promise<Value>): Promise<Value> => {
      try {
        return await query()
      } catch (error) {
        if (isLost(error)) lost()
        throw error
      }
    }
    client.on('error', lost)
    try {
      if (!settled.has(client)) {
        await checked(() => client.query(settle))
        settled.add(client)
      }
      return await work({
        rows: async ({ sql: { texts }, values: given }) => {
          const text = texts.reduce((joined, part, index) => `${joined}$${index}${part}`)
          const values = [...given]
          const query = { text, values, rowMode: 'array', types } as const
          const { rows } = await checked(() => client.query({ ...query }))
          return rows as readonly TextRow[]
        },
        command: async (text) => {
          const result = await checked(() => client.query(text))
          const last: unknown = Array.isArray(result) ? result.at(-1) : result
          return (last as PostgresResult).command
        },
        discard: lost,
      })
    } finally {
      client.removeListener('error', lost)
      client.release(isBroken)
    }
  }

  return {
    use(work) {
      const running = run(work)
      inUse.add(running)
      const ended = (): unknown => inUse.delete(running)
      running.then(ended, ended)
      return running
    },
    async close() {
      closed = true
      for (const fail of [...waiting]) fail(closedError())
      await Promise.allSettled([...inUse])
      pool.removeListener('error', ignore)
    },
  }
}

function ignore(): void {
  // The next statement of the connection is rejected.
}
