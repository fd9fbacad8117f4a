import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import { createService, defineCollection, text, type Observation } from '../../src/entries/index.ts'
import { apiKeys, httpBasic, securityApplications } from '../../src/entries/security.ts'
import { cheapCost } from '../kit/keys.ts'
import { tamperedDatabases, type Tampered } from '../kit/tampering.ts'

/** A service with two users, whose database another program changes. */
async function openStage(database: Tampered) {
  const books = defineCollection({ key: 'isbn', fields: { isbn: text() } })
  const reports: Observation[] = []
  const service = createService({
    applications: { library: { collections: { books } } },
    storage: database.open(),
    security: [
      apiKeys({ name: 'API Key', priority: 1, properties: { AllowInsecureHttp: true } }),
      httpBasic({ name: 'Password', priority: 2, cost: cheapCost }),
    ],
    report: (one) => reports.push(one),
  })
  onTestFinished(() => service.close())
  await service.ready()
  const clients: TestClient[] = []
  for (const user of ['good', 'bad']) {
    await service.users.add({ user, roles: ['Sales'], password: `password of ${user}` })
    const { key } = await service.keys.create({ user })
    clients.push(createTestClient(service, { key }))
  }
  const [good, bad] = clients
  const statusOf = async (client: TestClient | undefined) =>
    (await client?.get('/library/books'))?.status
  return { service, reports, good: () => statusOf(good), bad: () => statusOf(bad) }
}

type Change = readonly [table: string, column: string, value: string]

const changes: readonly Change[] = [
  ['users', 'roles', `'{}'`],
  ['users', 'roles', `'"Sales"'`],
  ['users', 'roles', `'[7]'`],
  ['users', 'roles', `'["a", "a"]'`],
  ['users', 'attributes', `'[]'`],
  ['users', 'attributes', `'{"region": {"$ne": "North"}}'`],
  ['users', 'attributes', `'{"constructor": 7}'`],
  ['users', 'attributes', `'null'`],
  ['users', 'password', `'not a hash'`],
  ['users', 'password', `''`],
  ['users', 'created', `'9999-12-31 00:00:00'`],
  ['keys', 'user', `'nobody'`],
  ['keys', 'provider', `'0192c7a0-1c00-7000-8000-5f1f5f1f0d10'`],
  ['keys', 'expires', `'0001-01-01 00:00:00'`],
  ['keys', 'expires', `'9999-12-31 00:00:00'`],
  ['keys', 'start', `''`],
]
const untyped: readonly Change[] = [
  ['users', 'roles', `'not json'`],
  ['users', 'roles', `x'ff'`],
  ['users', 'attributes', `'{'`],
  ['users', 'enabled', '7'],
  ['users', 'password', `x'ff'`],
  ['users', 'created', `'yesterday'`],
  ['keys', 'keyId', `'7'`],
  ['keys', 'provider', `x'ff'`],
  ['keys', 'expires', `'never'`],
  ['keys', 'revoked', '7'],
  ['keys', 'lastUsed', `'now'`],
  ['keys', 'firstUsed', `x'ff'`],
]

describe.each(tamperedDatabases)('on $name', ({ name, missing, isUntyped, create }) => {
  test.skipIf(missing !== undefined).each([...changes, ...(isUntyped ? untyped : [])])(
    'a row of %s whose %s is %s concerns its user only',
    async (table, column, value) => {
      const database = await create(securityApplications)
      const { good, bad, service, reports } = await openStage(database)
      expect([await good(), await bad()]).toEqual([200, 200])
      await new Promise((resolve) => setTimeout(resolve, 1_050))
      const cast = name === 'postgres' && /^(?:roles|attributes)$/.test(column) ? '::json' : ''
      await database.run(
        `update rowgate_${table} set "${column}" = ${value}${cast} where "user" = 'bad'`,
      )
      expect(await bad()).toBeOneOf([200, 401, 500])
      expect(await good()).toBe(200)
      // A list has all, or the error names the row.
      const lists = [() => service.users.list(), () => service.keys.list()]
      for (const list of lists) {
        const failure: unknown = await list().then(
          () => undefined,
          (error: unknown) => error,
        )
        if (failure !== undefined) expect(String(failure)).toMatch(/bad|item /)
      }
      for (const report of reports.filter(({ type }) => type === 'request-failed'))
        expect(String((report as { error?: unknown }).error)).toMatch(/bad|item /)
    },
  )

  test.skipIf(missing !== undefined)('removed tables respond 500 and end nothing', async () => {
    const database = await create(securityApplications)
    const { good } = await openStage(database)
    await database.run('drop table rowgate_security_events; drop table rowgate_keys')
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    expect(await good()).toBeOneOf([500, 503])
  })
})
