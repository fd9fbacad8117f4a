import { hash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { announce } from './announce.ts'
import { send } from './node-http-handler.ts'
import { poolHandler, type PoolTable } from './pool-handler.ts'
import { unauthorized } from './replies.ts'

/** A key and its user, as a database returns them. */
export interface FoundKey {
  expires: Date | null
  revoked: Date | null
  enabled: boolean | number
}

function digest(key: string): string {
  return hash('sha256', key, 'base64url')
}

/** 1,000 users with a key each, as for the servers on SQLite; `key` is the last one. */
export function usersWithKeys(): { users: string[]; hashes: string[]; key: string } {
  const keys = Array.from({ length: 1000 }, () => randomBytes(32).toString('base64url'))
  const users = keys.map((_, number) => `user ${number}`)
  return { users, hashes: keys.map(digest), key: keys.at(-1) ?? '' }
}

/** Serves tables behind a check of keys. `find`: runs the statement that reads a key by its hash. */
export function serveWithKeys(
  tables: ReadonlyMap<string, PoolTable>,
  find: (hash: string) => Promise<FoundKey | undefined>,
  key: string,
): void {
  const handle = poolHandler(tables)

  async function admits(key: string | string[] | undefined): Promise<boolean> {
    if (typeof key !== 'string') return false
    const found = await find(digest(key))
    if (!found?.enabled || found.revoked !== null) return false
    return found.expires === null || Date.now() < found.expires.getTime()
  }

  const server = createServer((request, response) => {
    void admits(request.headers['x-api-key']).then((isAdmitted) => {
      if (isAdmitted) handle(request, response)
      else send(response, 401, unauthorized)
    })
  })
  announce(server.listen(0, '127.0.0.1'), { 'x-api-key': key })
}
