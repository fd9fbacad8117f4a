import { expect } from 'vitest'
import {
  createDeployment,
  type BuildEvent,
  type Deployment,
  type DeploymentOptions,
} from '../../src/entries/deployment.ts'
import { createTestClient, type TestClient, type TestReply } from '../../src/entries/testing.ts'
import type { Observation, Service } from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { apiKeys, type SecurityProvider } from '../../src/entries/security.ts'
import { openService } from '../kit/stage.ts'
import { memory, openStorage, type Storage } from '../kit/storages.ts'
import { packageBuilder } from '../kit/builders.ts'
import { applications, environment, solutions } from './solutions.ts'

/** How deployment is opened for a test. */
export interface DeploymentServiceOptions extends Partial<DeploymentOptions> {
  /** Default: memory. */
  readonly on?: Storage
  /** Instead of a new one. It is not removed. */
  readonly storage?: StorageAdapter
  /** Puts something between deployment and its storage. */
  readonly wrap?: (storage: StorageAdapter) => StorageAdapter
  /** Further options of the service. */
  readonly service?: {
    readonly now?: () => Date
    readonly security?: readonly SecurityProvider[]
    readonly requestTimeout?: number
    readonly handlerTimeout?: number
  }
}

type Applications = typeof applications & Deployment['applications']

/** A service with deployment. */
export interface DeploymentService {
  readonly service: Service<Applications>
  readonly deployment: Deployment
  readonly storage: StorageAdapter
  /** Has the key of a user with the role Deployment. */
  readonly client: TestClient
  readonly news: BuildEvent[]
  readonly reports: readonly Observation[]
  readonly ask: Asking
}

/** Opens a service with deployment, which is closed after the test. */
export async function openDeployment(
  given: DeploymentServiceOptions = {},
): Promise<DeploymentService> {
  const { on = memory, wrap = (one: StorageAdapter) => one, service: more } = given
  const { on: _on, storage: _storage, wrap: _wrap, service: _service, ...options } = given
  const news: BuildEvent[] = []
  const storage = wrap(given.storage ?? openStorage(on))
  const deployment = createDeployment({
    solutions,
    environment,
    builder: packageBuilder(),
    pollInterval: 30,
    watch: (one) => news.push(one),
    ...options,
  })
  const { service, reports } = openService({
    applications: { ...applications, ...deployment.applications },
    storage,
    security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
    ...more,
  })
  await service.ready()
  const client = createTestClient(service, { key: await keyOf(service, 'deployer') })
  return { service, deployment, storage, client, news, reports, ask: asking(client) }
}

/** A key of a user, by default with the role Deployment. */
export async function keyOf(
  { keys, users }: Pick<Service<unknown>, 'keys' | 'users'>,
  user: string,
  roles: readonly string[] = ['Deployment'],
): Promise<string> {
  if ((await users.get(user)) === undefined) await users.add({ user, roles })
  return (await keys.create({ user })).key
}

/** An item of a response. */
export type Item = Readonly<Record<string, unknown>>

/** Requests that are expected to succeed. */
export interface Asking {
  build(body?: Item): Promise<Item>
  queue(body?: Item): Promise<Item>
  release(releaseId: unknown): Promise<Item>
  record(releaseId: unknown): Promise<Item>
  /** The queue record, once its state is one of these. */
  once(releaseId: unknown, ...states: readonly string[]): Promise<Item>
}

function asking(client: TestClient): Asking {
  const record = async (releaseId: unknown) =>
    itemOf(await client.get(`/svc-deploy/release-queue/${String(releaseId)}`))
  return {
    build: async (body = { solutionId: 'northwind' }) =>
      itemOf(await client.post('/svc-deploy/release', body)),
    queue: async (body = { solutionId: 'northwind' }) =>
      itemOf(await client.post('/svc-deploy/release-queue', body)),
    release: async (releaseId) =>
      itemOf(await client.get(`/svc-deploy/release/${String(releaseId)}`)),
    record,
    once: async (releaseId, ...states) => {
      let last: Item = {}
      const status = async () => (last = await record(releaseId))['status']
      await expect.poll(status, { interval: 10 }).toBeOneOf([...states])
      return last
    },
  }
}

/** Checks a success and returns its item. */
export function itemOf({ status, body }: TestReply): Item {
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ message: null, validations: [], status: 200 })
  return body.item as Item
}

/** Checks a success and returns the items of its page. */
export function itemsOf({ status, body }: TestReply): readonly Item[] {
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items as readonly Item[]
}

/** Checks a rejection: an envelope with nothing but its message and status. */
export function expectErrorReply(
  reply: TestReply,
  status: number,
  message?: string | RegExp,
): void {
  expect(reply.status, JSON.stringify(reply.body)).toBe(status)
  expect(reply.body).toEqual({ message: reply.body.message, validations: [], status })
  if (message !== undefined) expect(reply.body.message).toMatch(message)
}

/** Checks a failed save of exactly these fields. */
export function expectInvalid(reply: TestReply, ...fields: readonly string[]): void {
  expect(reply.status, JSON.stringify(reply.body)).toBe(400)
  expect(reply.body.validations.map(({ field, severity }) => [field, severity])).toEqual(
    fields.map((field) => [field, 'error']),
  )
}
