import { expect } from 'vitest'
import { administration, type AdministrationOptions } from '../../src/entries/administration.ts'
import { defineCollection, text, type Service } from '../../src/entries/index.ts'
import { httpBasic, type SecurityProvider } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { createTestClient, type TestClient, type TestReply } from '../../src/entries/testing.ts'
import { clockAt } from '../kit/clock.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { cheapCost, plainKeys } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'
import { openStorage, storages, type Storage } from '../kit/storages.ts'

/** Every storage: memory, SQLite, PostgreSQL and MariaDB. */
export const everywhere = [...new Set([...storages, ...serverStorages])]

/** How a service with administration is opened. */
export interface Opening {
  readonly options?: AdministrationOptions
  readonly security?: readonly SecurityProvider[]
  readonly storage?: StorageAdapter
  readonly more?: object
}

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: text() },
  roles: ['Sales'],
})

/** The providers of most tests. */
export const providers = () => [
  plainKeys({ name: 'API Key', priority: 1, maxExpiry: 525_600 }),
  httpBasic({ name: 'Password', priority: 2, cost: cheapCost, allowInsecureHttp: true }),
]

/** Opens a service with administration, whose administrator is `ada`. */
export async function openAdministered(
  on: Storage,
  { options = {}, security = providers(), storage = openStorage(on), more = {} }: Opening = {},
) {
  const clock = clockAt('2026-03-01T12:00:00Z')
  const admin = administration(options)
  const { service, reports } = openService({
    applications: { shop: { collections: { orders } }, ...admin.applications },
    storage,
    security,
    now: clock.now,
    ...more,
  })
  await service.ready()
  const keyOf = async (user: string, roles: readonly string[]): Promise<string> => {
    await service.users.ensure({ user, roles })
    return (await service.keys.create({ user, provider: 'API Key' })).key
  }
  const client = async (user: string, ...roles: readonly string[]) =>
    createTestClient(service, { key: await keyOf(user, roles) })
  return {
    service: service as unknown as Service<never> & Pick<Service<never>, 'users' | 'keys'>,
    reports: reports,
    clock,
    client,
    ada: await client('ada', 'Administrator'),
  }
}

/** The item of a successful response. */
export function itemOf({ status, body }: TestReply): Record<string, unknown> {
  expect(body, JSON.stringify(body)).toMatchObject({ message: null, validations: [] })
  expect(status).toBe(200)
  return (body as { item: Record<string, unknown> }).item
}

/** The items of a successful response. */
export function itemsOf({ status, body }: TestReply): readonly Record<string, unknown>[] {
  expect(status, JSON.stringify(body)).toBe(200)
  return (body as { items: readonly Record<string, unknown>[] }).items
}

/** Checks a rejected save, and returns its entries as `severity field: message`. */
export function entriesOf({ status, body }: TestReply): readonly string[] {
  expect(status, JSON.stringify(body)).toBe(400)
  const { validations } = body as {
    validations: readonly { severity: string; message: string; field?: string }[]
  }
  return validations.map(
    ({ severity, field, message }) => `${severity} ${field ?? '-'}: ${message}`,
  )
}

/** Sends a save again, with the confirmation of its warnings. */
export async function confirmed(
  client: TestClient,
  method: 'post' | 'delete',
  path: string,
  body: object = {},
): Promise<TestReply> {
  const first = method === 'post' ? await client.post(path, body) : await client.delete(path)
  const { validations } = first.body as { validations: readonly { validationId?: string }[] }
  const ids = validations.map(({ validationId }) => `"${String(validationId)}"`).join(',')
  const headers = { 'X-Svc-Ignore-Warnings': ids }
  expect(first.status, JSON.stringify(first.body)).toBe(400)
  return method === 'post' ? client.post(path, body, { headers }) : client.delete(path, { headers })
}
