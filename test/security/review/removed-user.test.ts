import { expect, test } from 'vitest'
import { createService, memoryStorage } from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'

const storages: Readonly<Record<string, () => StorageAdapter>> = {
  memory: memoryStorage,
  sqlite: () => sqliteStorage(':memory:', { ensureSchema: true }),
}

test.each(Object.entries(storages))(
  'no key outlives a user who is removed while it is made: %s',
  async (_, storage) => {
    const service = createService({
      applications: {},
      storage: storage(),
      security: apiKeys({ name: 'API Key' }),
    })
    await service.users.add({ user: 'ann' })
    const [made, removed] = await Promise.allSettled([
      service.keys.create({ user: 'ann' }),
      service.users.remove('ann'),
    ])
    expect(removed.status).toBe('fulfilled')
    if (made.status === 'rejected') expect(made.reason).toBeInstanceOf(TypeError)
    const keys = await service.keys.list()
    expect(keys.filter(({ revoked }) => revoked === null)).toEqual([])
    await service.close()
  },
)
