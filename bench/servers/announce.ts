import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'

export interface Usage {
  cpuMicroseconds: number
  rssBytes: number
  /** The heap that is still in use after a collection; 0 if none was asked for. */
  heapBytes: number
}

function usage(collect: boolean): Usage {
  const { user, system } = process.cpuUsage()
  if (collect) globalThis.gc?.()
  const heapBytes = collect ? process.memoryUsage().heapUsed : 0
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss(), heapBytes }
}

function sendPort(server: Server, headers: Headers): void {
  const { port } = server.address() as AddressInfo
  process.send?.({ port, headers })
}

/** Headers that each request has to carry. */
export type Headers = Record<string, string>

/** Sends the parent the port and headers, and then the usage for each message. */
export function announce(server: Server, headers: Headers = {}): void {
  process.on('message', (message) => process.send?.(usage(message === 'collect')))
  process.on('disconnect', () => process.exit())
  if (server.listening) sendPort(server, headers)
  else server.once('listening', () => sendPort(server, headers))
}

export function databaseFile(): string {
  const file = process.argv[2]
  if (!file) throw new Error('The database file is missing.')
  return file
}

/** How the servers on PostgreSQL reach their tables. */
export function connectionsOf() {
  return { connectionString: databaseFile(), max: 5, connectionTimeoutMillis: 5_000 }
}

/** How the servers on MariaDB reach theirs. */
export function mysqlConnectionsOf() {
  return { uri: databaseFile(), connectionLimit: 5, connectTimeout: 5_000 }
}

/** The tables that the server publishes. */
export function tableNames(): string[] {
  return process.argv.slice(3)
}
