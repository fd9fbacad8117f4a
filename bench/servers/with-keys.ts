import type { StorageAdapter } from 'rowgate/storage'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
import type { Headers } from './announce.ts'
import { salesService, type SalesOptions } from './sales.ts'

const properties = { AllowInsecureHttp: true }

export function storageWithKeys(file: string): StorageAdapter {
  return sqliteStorage(file, { synchronous: 'FULL', ensureSchema: true })
}

/** The service with API keys: 1,000 users with a key each, of which `headers` has one. */
export async function serviceWithKeys(
  storage: StorageAdapter,
  options: Pick<SalesOptions, 'cache' | 'index'> = {},
) {
  const security = apiKeys({ name: 'API Key', properties })
  const service = salesService({ storage, security, ...options })
  let key = ''
  for (let number = 0; number < 1000; number++) {
    const user = `user ${number}`
    await service.users.add({ user, roles: ['Sales'], attributes: { country: 'Norway' } })
    key = (await service.keys.create({ user })).key
  }
  const headers: Headers = { 'x-api-key': key }
  return { service, headers }
}
