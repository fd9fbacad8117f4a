import { createConnection } from 'mysql2/promise'

/** Runs statements as the user root of a server of MariaDB or MySQL. */
export async function asRoot(port: number, statements: readonly string[]): Promise<void> {
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' })
  try {
    for (const statement of statements) await connection.query(statement)
  } finally {
    connection.destroy()
  }
}
