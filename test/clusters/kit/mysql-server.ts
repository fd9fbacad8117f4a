import { mysqlFolder, startMysqlProgram } from './mysql-program.ts'

/**
 * Starts a MySQL server from the packages of Debian unstable, for all tests of a run, and sets `MYSQL_PORT`, and
 * `MYSQL_PROGRAM` to the client `mysql`. The packages are kept in a cache folder and not installed; without that folder
 * they are fetched again. Returns what ends the server.
 */
export default async function startMysql(): Promise<(() => Promise<void>) | undefined> {
  let root: string
  try {
    root = await mysqlFolder()
  } catch (error) {
    const message = `The packages of MySQL can't be had: ${String(error)}`
    if (process.env['REQUIRE_SERVERS'] === '1') throw new Error(message, { cause: error })
    console.warn(`Tests of MySQL are skipped. ${message}`)
    // The server of `MYSQL_PORT` may be another one.
    process.env['MYSQL_PORT'] = '1'
    return undefined
  }
  const { server, client } = await startMysqlProgram(root)
  Object.assign(process.env, {
    MYSQL_PORT: String(server.port),
    MYSQL_PROGRAM: client,
    REQUIRE_SERVERS: '1',
  })
  return () => server.stop()
}
