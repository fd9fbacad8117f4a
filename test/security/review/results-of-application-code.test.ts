import { expect, test } from 'vitest'
import { runInNewContext } from 'node:vm'
import {
  createService,
  defineCollection,
  memoryStorage,
  principal,
  text,
} from '../../../src/entries/index.ts'
import type { FindUser, User } from '../../../src/entries/security.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import { stage, tiny, type Verdict } from '../gate/fixture.ts'

const eve = { headers: { 'x-ticket': 'eve' } }
const rejected = { rejected: 'unknown' } as const

/** What resolves to a value and is no promise of this realm: those of query builders, and of others. */
const later: Readonly<Record<string, <Value>(value: Value) => Promise<Value>>> = {
  'a thenable': (value) => ({ then: (accept: (value: unknown) => void) => accept(value) }) as never,
  'a promise of another realm': (value) =>
    (runInNewContext('(value) => Promise.resolve(value)') as (value: unknown) => never)(value),
}

test.each(Object.entries(later))('a rejection as %s is a rejection', async (_, wrap) => {
  for (const answer of [rejected, undefined]) {
    const { rejection, reports } = stage([tiny('one', { answer: () => wrap<Verdict>(answer) })])
    expect(await rejection(eve)).toMatchObject({ status: 401 })
    expect(reports()).toMatchObject([{ type: 'credential-rejected', reason: 'unknown' }])
  }
})

test.each(Object.entries(later))('a caller as %s is the caller', async (_, wrap) => {
  const { ask } = stage([tiny('one', { answer: () => wrap<Verdict>(principal('ann')) })])
  expect(await ask(eve)).toMatchObject({ user: 'ann' })
})

test.each([{}, [], { user: 'ann' }, { user: 1, roles: [], attributes: {} }, null, true])(
  'a result that is neither a principal nor a rejection authenticates no one: %j',
  async (answer) => {
    for (const given of [answer, Promise.resolve(answer)]) {
      const { ask } = stage([tiny('one', { answer: () => given as never })])
      await expect(ask(eve)).rejects.toThrow(TypeError)
    }
  },
)

test('roles that are a string are not searched for the names of roles', async () => {
  const answer = () => ({ ...principal('ann'), roles: 'Salesman' as never })
  await expect(stage([tiny('one', { answer })]).ask(eve)).rejects.toThrow(TypeError)
})

async function statusFor(find: FindUser): Promise<number> {
  const notes = defineCollection({ key: 'name', fields: { name: text() } })
  let known = true
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: apiKeys({ name: 'API Key' }),
    users: (name) =>
      known ? { user: name, enabled: true, roles: [], attributes: {} } : find(name),
  })
  const { key } = await service.keys.create({ user: 'ann' })
  known = false
  const { status } = await service.handle({
    method: 'GET',
    target: '/rest/v1/desk/notes',
    header: (name) => (name === 'x-api-key' ? key : undefined),
    secure: true,
    peer: undefined,
    body: () => Promise.resolve(new Uint8Array()),
    signal: undefined,
  })
  await service.close()
  return status
}

const ann: User = { user: 'ann', enabled: true, roles: [], attributes: {} }

test.each(Object.entries(later))('users of the application may be %s', async (_, wrap) => {
  expect(await statusFor(() => wrap<User | undefined>(ann))).toBe(200)
  expect(await statusFor(() => wrap<User | undefined>(undefined))).toBe(401)
  expect(await statusFor(() => wrap<User | undefined>({ ...ann, enabled: false }))).toBe(401)
})

test('users of the application may be objects with getters, and null is an unknown user', async () => {
  const person: User = {
    get user() {
      return ann.user
    },
    get enabled() {
      return ann.enabled
    },
    get roles() {
      return ann.roles
    },
    get attributes() {
      return ann.attributes
    },
  }
  expect(await statusFor(() => Object.setPrototypeOf({}, person) as User)).toBe(200)
  expect(await statusFor(() => null as never)).toBe(401)
})
