import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Principal } from '../../../src/definition/principal.ts'
import type { Observation } from '../../../src/observation/reports.ts'
import { apiKeys } from '../../../src/security/keys/api-key.ts'
import type { ApiKeyOptions } from '../../../src/security/keys/api-key-record.ts'
import { securityCollections } from '../../../src/security/collections.ts'
import { createKeyLog } from '../../../src/security/keys/key-log.ts'
import { createKeyring } from '../../../src/security/keys/keyring.ts'
import { createUsers } from '../../../src/security/users/own-users.ts'
import type { KeyProvider, Rejected } from '../../../src/security/provider.ts'
import { clockAt } from '../../kit/clock.ts'
import { allRows } from '../../kit/storages.ts'
import type { Row, StorageAdapter } from '../../../src/storage/adapter.ts'
import { memoryStorage } from '../../../src/storage/memory/memory.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'

export type StorageName = 'memory' | 'SQLite file' | 'SQLite in memory'

export const storageNames: readonly StorageName[] = ['memory', 'SQLite file', 'SQLite in memory']

/** An open storage of its own for one test. */
export async function openStorage(name: StorageName): Promise<StorageAdapter> {
  const storage = await newStorage(name)
  await storage.open(Object.values(securityCollections))
  onTestFinished(async () => storage.close())
  return storage
}

async function newStorage(name: StorageName): Promise<StorageAdapter> {
  if (name === 'memory') return memoryStorage()
  if (name === 'SQLite in memory') return sqliteStorage(':memory:', { ensureSchema: true })
  const directory = await mkdtemp(join(tmpdir(), 'rowgate-keys-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return sqliteStorage(join(directory, 'keys.db'), { ensureSchema: true })
}

/** Keyring, users and look-up of one service over a storage. */
export async function openFixture(
  name: StorageName,
  providers: readonly KeyProvider[] = [apiKeys({ name: 'API Key' })],
) {
  return createFixture(await openStorage(name), providers)
}

export type KeyFixture = ReturnType<typeof createFixture>

export function createFixture(storage: StorageAdapter, providers: readonly KeyProvider[]) {
  const clock = clockAt('2026-03-01T12:00:00Z')
  const { now } = clock
  const reports: Observation[] = []
  const work: (() => Promise<unknown>)[] = []
  const report = (observation: Observation): void => void reports.push(observation)
  const defer = (one: () => Promise<unknown>): void => void work.push(one)
  const users = createUsers({ storage, now, keepsKeys: true })
  const lookup = createKeyLog({ storage, now, report, defer })
  const context = { keys: lookup, users, now }
  return {
    storage,
    clock,
    reports,
    /** What waits in the background. */
    work,
    users,
    lookup,
    context,
    keys: createKeyring({ storage, providers, users, now }),
    /** Does what waits in the background. */
    async settle(): Promise<void> {
      for (const one of work.splice(0)) await one()
    },
    /** Asks a provider who is behind a key. */
    async ask(key: string, provider = providers[0]): Promise<Principal | Rejected | undefined> {
      return provider?.identify({ place: 'header x-api-key', value: key }, context)
    },
    /** How a key fares: the reason for which it is rejected, or its user. */
    async fate(key: string, provider = providers[0]): Promise<unknown> {
      const answer = await this.ask(key, provider)
      return answer && ('rejected' in answer ? answer.rejected : { user: answer.user })
    },
  }
}

/** A provider with the name that most tests use. */
export function provider(options: Partial<ApiKeyOptions> = {}) {
  return apiKeys({ name: 'API Key', ...options })
}

/** Every row of every security collection. */
export async function dump(storage: StorageAdapter): Promise<readonly Row[]> {
  const pages = Object.values(securityCollections).map((one) => allRows(storage, one))
  return (await Promise.all(pages)).flat()
}
