import { createServer } from 'node:http'
import type { StorageAdapter } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
import { announce } from './announce.ts'
import { salesService } from './sales.ts'

const properties = { AllowInsecureHttp: true }

export function storageWithKeys(file: string): StorageAdapter {
  return sqliteStorage(file, { synchronous: 'FULL', ensureSchema: true })
}

/** Serves with API keys: 1,000 users with a key each, of which one is used. */
export async function serveWithKeys(storage: StorageAdapter): Promise<void> {
  const service = salesService({ storage, security: apiKeys({ name: 'API Key', properties }) })
  let key = ''
  for (let number = 0; number < 1000; number++) {
    const user = `user ${number}`
    await service.users.add({ user, roles: ['Sales'], attributes: { country: 'Norway' } })
    key = (await service.keys.create({ user })).key
  }
  announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), { 'x-api-key': key })
}
