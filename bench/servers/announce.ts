import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'

export interface Usage {
  cpuMicroseconds: number
  rssBytes: number
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() }
}

function tellPort(server: Server, headers: Headers): void {
  const { port } = server.address() as AddressInfo
  process.send?.({ port, headers })
}

/** Headers that each request has to carry. */
export type Headers = Record<string, string>

/** Tells the parent the port and headers, and then the usage whenever it asks. */
export function announce(server: Server, headers: Headers = {}): void {
  process.on('message', () => process.send?.(usage()))
  process.on('disconnect', () => process.exit())
  if (server.listening) tellPort(server, headers)
  else server.once('listening', () => tellPort(server, headers))
}

export function databaseFile(): string {
  const file = process.argv[2]
  if (!file) throw new Error('The database file is missing.')
  return file
}
