import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, memoryStorage, text } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/storage/adapter.ts'
import { temporaryDirectory } from '../kit/databases.ts'

const key = 'uN3x7Qm2Zr8Lk5Tw9Yb4Vd'

function start(storage: StorageAdapter) {
  const notes = defineCollection({ key: 'id', fields: { id: text() } })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage,
    security: apiKeys({ name: 'API Key' }),
  })
  onTestFinished(() => service.close())
  const status = async (): Promise<number> => {
    const reply = await service.handle({
      method: 'GET',
      target: '/rest/v1/app/notes',
      header: (name) => (name === 'x-api-key' ? key : undefined),
      secure: true,
      peer: undefined,
      signal: undefined,
      body: async () => new Uint8Array(),
    })
    return reply.status
  }
  return { service, status }
}

test('a service that ensures its user and key starts again over the same file', async () => {
  const directory = temporaryDirectory()
  const found = []
  for (let round = 0; round < 2; round++) {
    const storage = sqliteStorage(`${directory}/a.db`, { ensureSchema: true })
    const { service, status } = start(storage)
    await service.users.ensure({ user: 'dev', roles: ['Sales'] })
    found.push(await service.keys.ensure({ user: 'dev', key }))
    expect(await status()).toBe(200)
    expect(await service.keys.list()).toHaveLength(1)
    expect(await service.users.list()).toHaveLength(1)
    const created = (await service.keys.audit()).filter(({ event }) => event === 'created')
    expect(created).toHaveLength(1)
    await service.close()
  }
  rmSync(directory, { recursive: true })
  expect(found[1]?.keyId).toBe(found[0]?.keyId)
  expect(JSON.stringify(found)).not.toContain(key)
})

test('existing users and keys are not changed', async () => {
  const { service, status } = start(memoryStorage())
  await service.users.ensure({ user: 'dev', roles: ['Sales'] })
  const { keyId } = await service.keys.ensure({ user: 'dev', key })
  await service.users.change('dev', { enabled: false, roles: ['Office'] })
  const user = await service.users.ensure({ user: 'dev', roles: ['Sales'] })
  expect(user).toMatchObject({ enabled: false, roles: ['Office'] })
  await service.users.change('dev', { enabled: true })
  await service.keys.revoke(keyId)
  expect((await service.keys.ensure({ user: 'dev', key })).revoked).not.toBeNull()
  expect(await status()).toBe(401)
})

test('starts at the same time make one user and one key', async () => {
  const { service } = start(memoryStorage())
  await Promise.all([1, 2, 3].map(() => service.users.ensure({ user: 'dev' })))
  await Promise.all([1, 2, 3].map(() => service.keys.ensure({ user: 'dev', key })))
  expect(await service.keys.list()).toHaveLength(1)
})

test.each([
  [undefined, /^keys\.ensure\.key is missing: set the environment variable/],
  ['', /^keys\.ensure\.key is missing/],
  ['short', /^keys\.ensure\.key must be 16 to 128 random bytes .*; make one with: node -p/],
  ['has spaces has spaces has', /16 to 128 random bytes/],
  [[key], /16 to 128 random bytes/],
  ['a'.repeat(43), /^keys\.ensure\.key is not random: .*; make one with: node -p/],
  ['abcdefghi'.repeat(3), /not random/],
])('the chosen key %j is rejected', async (chosen, message) => {
  const { service } = start(memoryStorage())
  await service.users.ensure({ user: 'dev' })
  const ensuring = service.keys.ensure({ user: 'dev', key: chosen as string })
  await expect(ensuring).rejects.toThrow(message)
})

test('a chosen key has at least ten different characters', async () => {
  const { service } = start(memoryStorage())
  await service.users.ensure({ user: 'dev' })
  const record = await service.keys.ensure({ user: 'dev', key: 'abcdefghij'.repeat(3) })
  expect(record).toMatchObject({ start: 'abcd', description: null })
})

test('a chosen key may have a description, and an empty one is null', async () => {
  for (const [description, stored] of [
    ['of my computer', 'of my computer'],
    ['', null],
  ] as const) {
    const { service } = start(memoryStorage())
    await service.users.ensure({ user: 'dev' })
    expect(await service.keys.ensure({ user: 'dev', key, description })).toMatchObject({
      description: stored,
    })
  }
})

test('the mistakes of a call name it', async () => {
  const { service } = start(memoryStorage())
  await expect(service.keys.ensure({ user: 'nobody', key })).rejects.toThrow(
    /^keys\.ensure\.user: the user nobody does not exist/,
  )
  await expect(service.keys.ensure({ user: '', key })).rejects.toThrow(/^keys\.ensure\.user must/)
})

test('a chosen key must be of the same user, and its user must exist', async () => {
  const { service } = start(memoryStorage())
  await service.users.ensure({ user: 'dev' })
  await service.users.ensure({ user: 'maria' })
  await service.keys.ensure({ user: 'dev', key })
  await expect(service.keys.ensure({ user: 'maria', key })).rejects.toThrow(/another user/)
  await expect(service.keys.ensure({ user: 'nobody', key })).rejects.toThrow(TypeError)
})
