import { randomUUID } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import { mysqlSchema } from 'rowgate/mysql'
import { columns, indexed } from './customer.ts'
import { rowsOf, type Tables } from './database.ts'
import type { ServerDatabase } from './server-process.ts'
import { salesApplications } from './servers/sales.ts'

/** The server: a URL of a user who may create databases. */
const server = process.env['BENCH_MYSQL'] ?? 'mysql://root@127.0.0.1:3306'

const rowsOfInsert = 10_000

/** Creates a database with tables as the library creates them, with the rows that the servers on SQLite have in a file. */
export async function createMysqlDatabase(tables: Tables): Promise<ServerDatabase> {
  const name = `rowgate_bench_${randomUUID().replaceAll('-', '')}`
  const connection = await createConnection({ uri: server, multipleStatements: true })
  await connection.query(`create database ${name}; use ${name}`)
  const names = Object.keys(tables)
  if (names.length > 0) await connection.query(mysqlSchema(salesApplications(names, indexed)))
  for (const [table, count] of Object.entries(tables)) {
    const rows = rowsOf(table, count).map((row) => columns.map((column) => row[column]))
    for (let first = 0; first < count; first += rowsOfInsert) {
      const some = rows.slice(first, first + rowsOfInsert)
      await connection.query('insert into ?? (??) values ?', [table, columns, some])
    }
    await connection.query('analyze table ??', [table])
  }
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    place: url.href,
    async remove() {
      await connection.query(`drop database ${name}`)
      await connection.end()
    },
  }
}
