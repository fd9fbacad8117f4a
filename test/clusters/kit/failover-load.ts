import { setTimeout as pause } from 'node:timers/promises'
import { createService, defineCollection, integer, text } from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { send, type Request } from '../../kit/service.ts'

const letters = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })
const requestTimeout = 5_000
export const maxStaleness = 500
// A response of a request that was on its way when the revocation was acknowledged is not late.
const requestGrace = 500

/** What clients have seen. Times are in milliseconds after the fault. */
export interface Sighting {
  requests: number
  unavailable: number
  acknowledged: number
  /** When a save succeeded after which none failed, and when one failed the last time. */
  firstSuccess: number | undefined
  lastFailure: number | undefined
  revoked: number
  /** Requests with a revoked key that were accepted after `maxStaleness`. */
  revokedAccepted: number
  /** Acknowledged rows that do not exist at the end. */
  lost: number
  /** Responses that are neither right nor a 503. */
  readonly wrong: string[]
  /** The longest request, in milliseconds. */
  longest: number
}

interface Revoked {
  readonly key: string
  readonly since: number
}

/** The last id of all loads, so that those on one database insert different rows. Other tests use lower ones. */
let last = 1_000_000

/** Services of several processes on one database, and clients that use them. */
export async function startLoad(storages: readonly StorageAdapter[]) {
  const services = storages.map((storage) =>
    createService({
      applications: { app: { collections: { letters } } },
      storage,
      security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }),
      requestTimeout,
      report: false,
    }),
  )
  const [first] = services as [(typeof services)[number]]
  for (const service of services) await service.ready()
  await first.users.ensure({ user: 'maria' })
  const { key: ownKey } = await first.keys.create({ user: 'maria' })
  const any = () => services[Math.floor(Math.random() * services.length)] as typeof first
  const request = async (seen: Sighting, own: Request, key = ownKey) => {
    const began = performance.now()
    const reply = await send(any(), { ...own, headers: { 'x-api-key': key } })
    seen.requests++
    seen.longest = Math.max(seen.longest, performance.now() - began)
    if (reply.status === 503) seen.unavailable++
    return reply
  }

  /** Runs the clients around a fault until `end` has resolved and saves succeed, and returns what they have seen. */
  async function during(fault: () => Promise<unknown>, settle = 3_000): Promise<Sighting> {
    const seen: Sighting = {
      ...{ requests: 0, unavailable: 0, acknowledged: 0, firstSuccess: undefined },
      ...{ lastFailure: undefined, revoked: 0, revokedAccepted: 0, lost: 0, wrong: [], longest: 0 },
    }
    const acknowledged: number[] = []
    const revoked: Revoked[] = []
    let faultAt = Infinity
    let latestSuccess = -Infinity
    let hasEnded = false
    const writer = async (): Promise<void> => {
      while (!hasEnded) {
        const id = ++last
        const { status } = await request(seen, {
          ...{ method: 'POST', path: '/letters', body: { id, title: `letter ${id}` } },
        })
        const at = Math.round(performance.now() - faultAt)
        if (status === 200) {
          acknowledged.push(id)
          if (at >= 0) {
            seen.firstSuccess ??= at
            latestSuccess = at
          }
          const read = await request(seen, { method: 'GET', path: `/letters/${id}` })
          if (read.status !== 200 && read.status !== 503)
            seen.wrong.push(`GET of an acknowledged letter: ${read.status}`)
        } else if (status === 503) {
          if (at >= 0) Object.assign(seen, { lastFailure: at, firstSuccess: undefined })
        } else seen.wrong.push(`POST: ${status}`)
        await pause(60)
      }
    }
    const revoker = async (): Promise<void> => {
      while (!hasEnded) {
        try {
          const { key, keyId } = await any().keys.create({ user: 'maria' })
          for (const service of services)
            await send(service, {
              method: 'GET',
              path: '/letters/1',
              headers: { 'x-api-key': key },
            })
          await any().keys.revoke(keyId)
          revoked.push({ key, since: performance.now() + maxStaleness })
        } catch {
          // It is not revoked for sure.
        }
        await pause(200)
      }
    }
    const intruder = async (): Promise<void> => {
      while (!hasEnded) {
        for (const { key, since } of revoked.slice(-3)) {
          const began = performance.now()
          const { status } = await request(seen, { method: 'GET', path: '/letters/1' }, key)
          if (status === 200 && began > since + requestGrace) seen.revokedAccepted++
        }
        await pause(30)
      }
    }
    const clients = [...Array.from({ length: 6 }, writer), revoker(), intruder()]
    await pause(1_000)
    faultAt = performance.now()
    await fault()
    // Until saves have succeeded for a while. If nothing fails, the database may be silent.
    const hasSettled = () =>
      seen.firstSuccess !== undefined && latestSuccess > seen.firstSuccess + settle
    while (!hasSettled()) await pause(100)
    hasEnded = true
    await Promise.all(clients)
    seen.acknowledged = acknowledged.length
    seen.revoked = revoked.length
    for (const id of acknowledged) {
      const { status } = await send(first, {
        ...{ method: 'GET', path: `/letters/${id}`, headers: { 'x-api-key': ownKey } },
      })
      if (status === 404) seen.lost++
      else if (status !== 200) seen.wrong.push(`GET at the end: ${status}`)
    }
    return seen
  }

  return {
    during,
    close: async () => {
      for (const service of services) await service.close()
    },
  }
}
