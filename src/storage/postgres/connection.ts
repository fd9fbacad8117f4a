import { createHash } from 'node:crypto'
import { clients } from '../sql/clients.ts'
import type { BoundStatement, Connection, Connections, TextRow } from '../sql/connection.ts'
import type { Sql } from '../sql/fragments.ts'
import { isLost } from './failure.ts'
import type { CompletePostgres } from './options.ts'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './pool.ts'

// The text that the server writes, and the meaning of the text that it reads, depend on these.
const settings = [
  `timezone = 'UTC'`,
  `datestyle = 'ISO, YMD'`,
  `intervalstyle = 'iso_8601'`,
  `extra_float_digits = 1`,
  `client_encoding = 'UTF8'`,
  `standard_conforming_strings = on`,
]

// The statements that clients choose are otherwise unbounded, and each connection keeps them all.
const maxNames = 500
// The meaning of a prepared statement has changed with the schema: the result has other types.
const changedPlan = '0A000'

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
  const settled = new WeakMap<PostgresClient, Session>()
  const prepared = new WeakMap<Sql, Prepared>()
  let names = 0
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
    // The promises of `pg` refer to each other, so that the garbage collector frees results late.
    const send = (query: PostgresQuery | string): Promise<PostgresResult> =>
      new Promise((resolve, reject) => {
        client.query(query, (error, result) => {
          if (error) {
            if (isLost(error)) lost()
            reject(error)
          } else resolve(Array.isArray(result) ? lastOf(result) : result)
        })
      })
    const runIn = async (statement: BoundStatement, session: Session): Promise<PostgresResult> => {
      const { text, name } = preparedFor(statement.sql)
      const query: PostgresQuery = { text, values: [...statement.values], rowMode: 'array', types }
      const isNamed = session.isDirect && name !== undefined
      if (isNamed) query.name = `${name}_${session.plans}`
      try {
        return await send(query)
      } catch (error) {
        if (!isNamed || (error as { readonly code?: unknown }).code !== changedPlan) throw error
        session.plans++
        // In a transaction, the server rejects it.
        return runIn(statement, session)
      }
    }
    client.on('error', lost)
    try {
      let session = settled.get(client)
      if (session === undefined) {
        const {
          rows: [row],
        } = await send(`${settle}; select pg_backend_pid() as pid`)
        const { pid } = row as { readonly pid: unknown }
        session = { isDirect: Number(pid) === client.processID, plans: 1 }
        settled.set(client, session)
      }
      const current = session
      return await work({
        rows: async (statement) => (await runIn(statement, current)).rows as readonly TextRow[],
        matched: async (statement) => (await runIn(statement, current)).rowCount ?? 0,
        command: async (text) => (await send(text)).command,
        discard: lost,
      })
    } finally {
      client.removeListener('error', lost)
    }
  }

  function preparedFor(sql: Sql): Prepared {
    let found = prepared.get(sql)
    if (found === undefined) {
      const text = sql.texts.reduce((joined, part, index) => `${joined}$${index}${part}`)
      prepared.set(sql, (found = { text, name: undefined }))
    } else if (found.name === undefined && names < maxNames) {
      names++
      found.name = nameOf(found.text)
    }
    return found
  }

  return {
    use: (work) => use((client, broken) => run(client, broken, work)),
    async close() {
      await close()
      pool.removeListener('error', ignore)
    },
  }
}

/** What is known of a connection. */
interface Session {
  /** Whether no pooler stands before the server, which could run each transaction in another session. */
  readonly isDirect: boolean
  /** The number of its plans: from another one on, statements are prepared anew. */
  plans: number
}

/** A statement, which has a name from its second run on. */
interface Prepared {
  readonly text: string
  name: string | undefined
}

// Other storages may use the same connection: a name stands for one text.
function nameOf(text: string): string {
  return `rowgate_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

function lastOf(results: readonly PostgresResult[]): PostgresResult {
  return results.at(-1) as PostgresResult
}

function ignore(): void {
  // The next statement of the connection is rejected.
}
