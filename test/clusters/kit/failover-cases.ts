import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createService, defineCollection, integer, text } from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { startProxy } from '../../kit/proxy.ts'
import { send } from '../../kit/service.ts'
import type { Address, ReplicaStorageOptions } from './replica-cases.ts'

/** A primary server and a replica, to each of which an address may lead. */
export interface FailoverServers {
  readonly primary: Address
  readonly replica: Address
  /** Starts what stands before an address. Default: nothing. */
  front?(address: Address): Promise<Address>
  /** Creates a storage that writes and reads at an address. */
  storage(at: Address, options: ReplicaStorageOptions): StorageAdapter
  /** Waits until the replica has what the primary has. */
  caughtUp(): Promise<void>
  pauseReplay(): Promise<unknown>
  resumeReplay(): Promise<unknown>
}

const letters = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
const maxStaleness = 400

/** Starts a service with letters, and returns requests of its clients. */
export async function startLetters(storage: StorageAdapter) {
  const service = createService({
    applications: { app: { collections: { letters } } },
    storage,
    security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }),
    report: false,
  })
  onTestFinished(() => service.close())
  await service.ready()
  const request = async (key: string, method: string, path: string, body?: object) => {
    const { status } = await send(service, { method, path, body, headers: { 'x-api-key': key } })
    return status
  }
  return {
    service,
    read: (key: string, id: number) => request(key, 'GET', `/letters/${id}`),
    save: (key: string, id: number) => request(key, 'POST', '/letters', { id, title: 'new' }),
  }
}

let last = 0

/** Registers the cases of an address of a primary that leads to its replica for a while. */
export function describeFailover(servers: () => FailoverServers): void {
  test('is not read or written by a service of the primary while the address of the primary leads to it', async () => {
    const { primary, replica, front, storage, caughtUp, pauseReplay, resumeReplay } = servers()
    const address = await startProxy(primary)
    onTestFinished(() => address.stop())
    const options = { ensureSchema: true, maxStaleness }
    const one = await startLetters(storage((await front?.(address)) ?? address, options))
    const other = await startLetters(storage(primary, options))
    const user = `user ${last}`
    await other.service.users.ensure({ user })
    const [kept, revoked] = [
      await other.service.keys.create({ user }),
      await other.service.keys.create({ user }),
    ]
    for (const { key } of [kept, revoked]) {
      expect(await one.save(key, ++last)).toBe(200)
      expect(await one.read(key, last)).toBe(200)
    }
    await caughtUp()
    await pauseReplay()
    const resume = async (): Promise<void> => {
      await resumeReplay()
    }
    onTestFinished(resume)
    expect(await one.save(kept.key, ++last)).toBe(200)
    const saved = last
    address.lead(replica)
    address.reset()
    await other.service.keys.revoke(revoked.keyId)
    const revokedAt = performance.now()
    while (performance.now() < revokedAt + 2_000) {
      const late = performance.now() > revokedAt + maxStaleness
      // Neither a row nor a revocation that the replica lacks may be missed.
      expect([200, 503]).toContain(await one.read(kept.key, saved))
      expect(late ? [401, 503] : [200, 401, 503]).toContain(await one.read(revoked.key, saved))
      expect(await one.save(kept.key, ++last)).toBe(503)
      await pause(20)
    }
    address.lead(primary)
    address.reset()
    await expect.poll(() => one.save(kept.key, ++last)).toBe(200)
    expect(await one.read(kept.key, saved)).toBe(200)
    expect(await one.read(revoked.key, saved)).toBe(401)
    await resume()
  })

  test('is read by a service that was opened on it', async () => {
    const { primary, replica, storage, caughtUp } = servers()
    const options = { ensureSchema: true, maxStaleness }
    const writer = await startLetters(storage(primary, options))
    await writer.service.users.ensure({ user: 'reader' })
    const { key } = await writer.service.keys.create({ user: 'reader' })
    expect(await writer.save(key, ++last)).toBe(200)
    await caughtUp()
    const reader = await startLetters(storage(replica, { maxStaleness }))
    expect(await reader.read(key, last)).toBe(200)
  })
}
