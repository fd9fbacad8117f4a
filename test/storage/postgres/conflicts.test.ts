import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  principal,
  text,
  type CollectionBehaviour,
} from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()
const data = { key: 'id', fields: { id: integer(), title: text(), visits: integer() } } as const
const key = 'uN3x7Qm2Zr8Lk5Tw9Yb4Vd'

describe.skipIf(missing !== undefined)('processes on one PostgreSQL', () => {
  let schema: TestSchema

  beforeAll(async () => {
    schema = await testSchema()
  })
  afterAll(() => schema.drop())

  /** Starts two services over the same tables, each with connections of its own. */
  async function two(behaviour: CollectionBehaviour<typeof data> = {}) {
    const services = [schema.open(4), schema.open(4)].map((pool) =>
      createService({
        applications: { app: { collections: { notes: defineCollection(data, behaviour) } } },
        storage: postgresStorage(pool, { ensureSchema: true }),
        security: apiKeys({ name: 'API Key' }),
        report: () => undefined,
      }),
    )
    onTestFinished(async () => {
      for (const service of services) await service.close()
    })
    for (const service of services) await service.ready()
    await schema.clear()
    const notes = services.map((service) =>
      service.as(principal('maria')).collection('app', 'notes'),
    )
    const [service, other] = services
    const [own, others] = notes
    if (!service || !other || !own || !others) throw new Error('There must be two services.')
    return { services: [service, other], notes: [own, others] } as const
  }

  test('lose no save without code: 24 at the same time on one row succeed', async () => {
    const { notes } = await two()
    await notes[0].insert({ id: 1, visits: 0 })
    const saves = Array.from({ length: 24 }, (_, visits) =>
      notes[visits % 2 === 0 ? 0 : 1].update(1, { visits }),
    )
    const results = await Promise.all(saves)
    expect(results.map((result) => result?.rejected)).toEqual(saves.map(() => false))
  })

  test('call the code of a save once, whether it succeeds or not', async () => {
    let calls = 0
    const { notes } = await two({
      events: {
        Update: {
          before: () => {
            calls += 1
          },
        },
      },
    })
    await notes[0].insert({ id: 1, visits: 0 })
    const saves = Array.from({ length: 10 }, (_, visits) =>
      notes[visits % 2 === 0 ? 0 : 1].update(1, { visits }),
    )
    const results = await Promise.allSettled(saves)
    expect(calls).toBe(10)
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ kind: 'unavailable', isConflict: true })
    }
  })

  test('store a user and a key once that both of them ensure', async () => {
    const { services } = await two()
    const users = await Promise.all(
      [...services, ...services].map((one) => one.users.ensure({ user: 'maria' })),
    )
    expect(users.map(({ user }) => user)).toEqual(['maria', 'maria', 'maria', 'maria'])
    const keys = await Promise.all(
      [...services, ...services].map((one) => one.keys.ensure({ user: 'maria', key })),
    )
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(1)
    expect(await services[0].keys.list()).toHaveLength(1)
  })

  test('change one user and revoke one key at the same time', async () => {
    const { services } = await two()
    await services[0].users.add({ user: 'maria' })
    const { keyId } = await services[0].keys.create({ user: 'maria' })
    const changes = Array.from({ length: 12 }, (_, index) =>
      services[index % 2 === 0 ? 0 : 1].users.change('maria', { roles: [`role ${index}`] }),
    )
    const revoked = [...services, ...services].map((one) => one.keys.revoke(keyId))
    expect(await Promise.all(changes)).toHaveLength(12)
    const times = (await Promise.all(revoked)).map((record) => record.revoked)
    expect(new Set(times).size).toBe(1)
    const events = await services[0].keys.audit({ keyId })
    expect(events.map(({ event }) => event)).toEqual(['created', 'revoked'])
  })
})
