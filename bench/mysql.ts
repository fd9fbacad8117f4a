import { randomUUID } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import type { ServerDatabase } from './server-process.ts'

/** The server: a URL of a user who may create databases. */
const server = process.env['BENCH_MYSQL'] ?? 'mysql://root@127.0.0.1:3306'

/** Creates an empty database. */
export async function createMysqlDatabase(): Promise<ServerDatabase> {
  const name = `rowgate_bench_${randomUUID().replaceAll('-', '')}`
  const connection = await createConnection(server)
  await connection.query(`create database ${name}`)
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
