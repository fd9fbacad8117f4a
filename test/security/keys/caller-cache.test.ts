import { expect, test } from 'vitest'
import type { SecurityContext } from '../../../src/security/provider.ts'
import { principal } from '../../../src/entries/index.ts'
import { callerCache } from '../../../src/security/keys/api-key.ts'
import type { KeyRecord } from '../../../src/security/keys/key-store.ts'
import { openFixture, provider } from './fixture.ts'

/** A key of maria, and a context that counts what is read for it. */
async function countedContext() {
  const { context, keys, users, clock } = await openFixture('memory', [provider()])
  await users.add({ user: 'maria', roles: ['Sales'] })
  const { key } = await keys.create({ user: 'maria', expiresIn: 60 })
  const reads: string[] = []
  let version: number | undefined = 1
  const counting: SecurityContext = {
    now: context.now,
    version: () => version,
    keys: {
      ...context.keys,
      find: (hash) => (reads.push('key'), context.keys.find(hash)),
      used: (one) => {
        reads.push('used')
        context.keys.used(one)
      },
    },
    users: { find: (user) => (reads.push('user'), context.users.find(user)) },
  }
  const subject = provider()
  const identify = async (by = subject, where: SecurityContext = counting) => {
    reads.length = 0
    const answer = await by.identify({ place: 'header x-api-key', value: key }, where)
    return [answer, [...reads]] as const
  }
  return {
    identify,
    counting,
    users,
    clock,
    setVersion: (next: number | undefined) => void (version = next),
  }
}

const everything = ['key', 'user', 'used']

test('a second request in the same version of storage reads nothing', async () => {
  const { identify } = await countedContext()
  const [first, reads] = await identify()
  expect(first).toMatchObject({ user: 'maria', roles: ['Sales'] })
  expect(reads).toEqual(everything)
  const [second, later] = await identify()
  expect(second).toBe(first)
  expect(later).toEqual(['used'])
})

test('a request in another version of storage reads again', async () => {
  const { identify, setVersion, users } = await countedContext()
  await identify()
  await users.change('maria', { roles: ['Chief'] })
  setVersion(2)
  const [caller, reads] = await identify()
  expect(caller).toMatchObject({ roles: ['Chief'] })
  expect(reads).toEqual(everything)
  expect((await identify())[1]).toEqual(['used'])
})

test('without a version every request reads', async () => {
  const { identify, setVersion } = await countedContext()
  setVersion(undefined)
  await identify()
  expect((await identify())[1]).toEqual(everything)
  setVersion(1)
  await identify()
  setVersion(undefined)
  expect((await identify())[1]).toEqual(everything)
})

test('a key that has expired since is not remembered', async () => {
  const { identify, clock } = await countedContext()
  await identify()
  clock.pass(60)
  const [answer, reads] = await identify()
  expect(answer).toMatchObject({ rejected: 'expired' })
  expect(reads[0]).toBe('key')
})

test('several callers are cached', () => {
  const cache = callerCache()
  const context = {} as SecurityContext
  const callers = ['a', 'b'].map((user) => ({
    version: 1,
    key: { keyId: user } as KeyRecord,
    principal: principal(user),
  }))
  for (const caller of callers) cache.set(context, caller.key.keyId, caller)
  expect(callers.map(({ key }) => cache.get(context, key.keyId, 1))).toEqual(callers)
  expect(cache.get(context, 'a', 2)).toBeUndefined()
  expect(cache.get(context, 'c', 1)).toBeUndefined()
})

test('every service caches its own callers', async () => {
  const { identify, counting } = await countedContext()
  const shared = provider()
  await identify(shared)
  const another = { ...counting, users: { find: () => undefined } }
  expect((await identify(shared, another))[0]).toMatchObject({ rejected: 'user-unknown' })
  expect((await identify(shared))[1]).toEqual(['used'])
})
