import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, memoryStorage, text } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle, temporaryDirectory } from '../kit/databases.ts'
import { startOfTime, runScene } from './command-line.ts'

test('a command over storage in memory warns that its changes are lost', async () => {
  const notes = defineCollection({ key: 'id', fields: { id: text() } })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: memoryStorage(),
    security: apiKeys({ name: 'Key' }),
  })
  const rest = { now: () => new Date(startOfTime), loadService: async () => service }
  const run = await runScene(['users', 'add', 'maria'], {}, rest)
  expect(run.code).toBe(0)
  expect(run.messages).toContain('Warning: the service stores in memory.')
})

test.each(drivers)(
  '%s: keys revoke waits for another process that writes, and says so on stderr',
  async (driver) => {
    const directory = temporaryDirectory()
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const open = () =>
      createService({
        applications: {
          app: { collections: { notes: defineCollection({ key: 'id', fields: { id: text() } }) } },
        },
        storage: sqliteStorage(`${directory}/a.db`, {
          driver,
          ensureSchema: true,
          busyTimeout: 20,
        }),
        security: apiKeys({ name: 'Key' }),
      })
    const service = open()
    await service.users.add({ user: 'maria' })
    const key = await service.keys.create({ user: 'maria' })
    await service.close()
    const other = openHandle(driver, `${directory}/a.db`)
    other.exec('BEGIN EXCLUSIVE')
    setTimeout(() => other.exec('COMMIT'), 11_000)
    const run = await runScene(
      ['keys', 'revoke', key.keyId, '--yes'],
      {},
      {
        now: () => new Date(startOfTime),
        loadService: async () => open(),
      },
    )
    other.close()
    expect(run).toMatchObject({ code: 0 })
    expect(run.messages).toContain('seconds for the database')
  },
  60_000,
)
