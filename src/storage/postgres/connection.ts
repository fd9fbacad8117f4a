import { clients } from '../sql/clients.ts'
import type { Connection, Connections, TextRow } from '../sql/connection.ts'
import { isLost } from './failure.ts'
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
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', ignore)

  const { use, close } = clients(
    {
      connect: () => pool.connect(),
      release: (client, isBroken) => client.release(isBroken),
    },
    options.acquireTimeout,
  )

  async function run<Result>(
    client: PostgresClient,
    lost: () => void,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
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

function ignore(): void {
  // The next statement of the connection is rejected.
}
