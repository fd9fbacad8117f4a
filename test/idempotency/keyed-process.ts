import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService } from '../../src/entries/index.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { visitors } from '../kit/visitors.ts'
import { keyedApplications } from './keyed-applications.ts'

/** What a process has to do: which database it serves. */
export type KeyedOrder =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly address: object; readonly schema: string }
  | { readonly kind: 'mariadb'; readonly address: object; readonly database: string }

// A service of its own until its input ends, or until it is killed.
const order = JSON.parse(process.argv[2] ?? '') as KeyedOrder
const service = createService({
  applications: keyedApplications,
  storage: await storageOf(order),
  security: visitors,
  report: (observation) => {
    const failed = 'error' in observation ? String(observation.error) : ''
    writeSync(1, `report ${observation.type} ${failed}\n`)
  },
})
await service.ready()
const server = createServer(toNodeHandler(service)).listen(0, '127.0.0.1')
await once(server, 'listening')
writeSync(1, `ready ${(server.address() as AddressInfo).port}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
process.exit(0)

async function storageOf(given: KeyedOrder): Promise<StorageAdapter> {
  if (given.kind === 'sqlite')
    return sqliteStorage(given.file, { ensureSchema: true, busyTimeout: 5_000 })
  if (given.kind === 'postgres') {
    const { Pool } = await import('pg')
    const options = `-c search_path=${given.schema}`
    return postgresStorage(new Pool({ ...given.address, options, max: 4 }), { ensureSchema: true })
  }
  const { createPool } = (await import('mysql2/promise')).default
  const pool = createPool({ ...given.address, database: given.database, connectionLimit: 4 })
  return mysqlStorage(pool, { ensureSchema: true })
}
