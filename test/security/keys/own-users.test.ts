import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { securityCollections } from '../../../src/security/collections.ts'
import { createUsers } from '../../../src/security/users/own-users.ts'
import type { NewUser, User, UserChanges } from '../../../src/security/users/user-store.ts'
import type { StorageAdapter } from '../../../src/storage/adapter.ts'
import { dump, openStorage, storageNames } from './fixture.ts'
import { clockAt } from '../../kit/clock.ts'

const { now } = clockAt('2026-03-01T12:00:00Z')
const hashPassword = async (password: string): Promise<string> => `hash of ${password.length}`

describe.each(storageNames)('users over %s', (name) => {
  const open = async () => createUsers({ storage: await openStorage(name), now, hashPassword })

  test('are added, found and listed by name', async () => {
    const users = await open()
    const maria = await users.add({
      user: 'maria',
      roles: ['Sales', 'Deployment'],
      attributes: { region: 'WA', level: 2, external: false, manager: null },
      password: 'secret',
    })
    expect(maria).toEqual({
      user: 'maria',
      enabled: true,
      roles: ['Sales', 'Deployment'],
      attributes: { region: 'WA', level: 2, external: false, manager: null },
    })
    await users.add({ user: 'Zoë', enabled: false })
    expect(await users.get('maria')).toEqual(maria)
    expect(await users.find('maria')).toEqual({ ...maria, password: 'hash of 6' })
    expect(await users.find('Zoë')).toMatchObject({ enabled: false, roles: [], password: null })
    expect((await users.list()).map(({ user }) => user)).toEqual(['Zoë', 'maria'])
  })

  test('differ by every character', async () => {
    const users = await open()
    await users.add({ user: 'maria' })
    for (const other of ['Maria', 'maria ', 'mari', 'marí­a', '']) {
      expect(await users.find(other)).toBeUndefined()
    }
    expect(await users.get('Maria')).toBeUndefined()
  })

  test('are frozen to the ground', async () => {
    const users = await open()
    await users.add({ user: 'maria', roles: ['Sales'], attributes: { region: 'WA' } })
    const found = await users.find('maria')
    const listed = await users.list()
    for (const value of [await users.get('maria'), found, listed[0], listed] as User[]) {
      expect(Object.isFrozen(value)).toBe(true)
    }
    expect([found?.roles, found?.attributes].every(Object.isFrozen)).toBe(true)
  })

  test('are added once, also by 100 at once', async () => {
    const users = await open()
    const adding = Array.from({ length: 100 }, (_, index) =>
      users.add({ user: 'maria', attributes: { index } }),
    )
    const settled = await Promise.allSettled(adding)
    const failures = settled.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    )
    expect(failures).toHaveLength(99)
    expect(failures.filter((one) => !(one instanceof TypeError))).toEqual([])
    await expect(users.add({ user: 'maria' })).rejects.toThrow(
      'users.add: the user maria already exists',
    )
    expect(await users.list()).toHaveLength(1)
  })

  test('are changed only in the given members', async () => {
    const users = await open()
    const given = { user: 'maria', roles: ['Sales'], attributes: { region: 'WA' } }
    await users.add({ ...given, password: 'secret' })
    const steps: readonly (readonly [UserChanges, object])[] = [
      [{}, {}],
      [{ enabled: false }, { enabled: false }],
      [{ roles: [] }, { roles: [] }],
      [{ attributes: {} }, { attributes: {} }],
      [{ password: 'longer secret' }, { password: 'hash of 13' }],
      [{ password: null }, { password: null }],
      [
        { enabled: true, roles: ['A', 'B'] },
        { enabled: true, roles: ['A', 'B'] },
      ],
    ]
    let expected: object = { ...given, enabled: true, password: 'hash of 6' }
    for (const [changes, difference] of steps) {
      expected = { ...expected, ...difference }
      const changed = await users.change('maria', changes)
      expect(await users.find('maria')).toEqual(expected)
      expect({ password: undefined, ...changed }).toEqual({ ...expected, password: undefined })
    }
  })

  test('are removed', async () => {
    const users = await open()
    await users.add({ user: 'maria' })
    await users.add({ user: 'john' })
    await users.remove('maria')
    expect(await users.find('maria')).toBeUndefined()
    expect(await users.list()).toHaveLength(1)
    await expect(users.remove('maria')).rejects.toThrow(
      'users.remove: the user maria does not exist',
    )
    await expect(users.change('maria', {})).rejects.toThrow(
      'users.change: the user maria does not exist',
    )
    await expect(users.change('maria', { enabled: true })).rejects.toThrow(TypeError)
  })

  test('are listed beyond a page of storage', async () => {
    const users = await open()
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => users.add({ user: `u${index}` })))
    const names = (await users.list()).map(({ user }) => user)
    expect(names).toEqual(Array.from({ length: 1_000 }, (_, index) => `u${index}`).toSorted())
  })

  test('reject an invalid user', async () => {
    const users = await open()
    await users.add({ user: 'maria' })
    const cases: readonly (readonly [given: unknown, place: string])[] = [
      [undefined, 'users.add '],
      [{}, 'users.add.user '],
      [{ user: '' }, 'users.add.user '],
      [{ user: 'a\u0000' }, 'users.add.user '],
      [{ user: 'a\nb' }, 'users.add.user '],
      [{ user: '\ud800' }, 'users.add.user '],
      [{ user: 'x'.repeat(201) }, 'users.add.user '],
      [{ user: 'a', enabled: 'yes' }, 'users.add.enabled '],
      [{ user: 'a', roles: 'Sales' }, 'users.add.roles '],
      [{ user: 'a', roles: ['Sales', 'Sales'] }, 'users.add.roles '],
      [{ user: 'a', roles: [''] }, 'users.add.roles '],
      [{ user: 'a', roles: [1] }, 'users.add.roles '],
      [{ user: 'a', attributes: [] }, 'users.add.attributes '],
      [{ user: 'a', attributes: { a: {} } }, 'users.add.attributes '],
      [{ user: 'a', attributes: { a: Number.NaN } }, 'users.add.attributes '],
      [{ user: 'a', attributes: { a: undefined } }, 'users.add.attributes '],
      [{ user: 'a', attributes: { constructor: 'a' } }, 'users.add.attributes '],
      [
        { user: 'a', attributes: JSON.parse('{"__proto__": 1}') as object },
        'users.add.attributes ',
      ],
      [{ user: 'a', password: '' }, 'users.add.password '],
      [{ user: 'a', password: null }, 'users.add.password '],
      [{ user: 'a:b', password: 'secret' }, 'users.add.user must not contain a colon'],
      [{ user: 'a', role: ['Sales'] }, 'users.add.role is not an option; did you mean roles?'],
    ]
    for (const [given, place] of cases) {
      await expect(users.add(given as NewUser)).rejects.toThrow(TypeError)
      await expect(users.add(given as NewUser)).rejects.toThrow(place)
    }
    for (const changes of [undefined, { user: 'b' }, { roles: null }, { password: '' }]) {
      await expect(users.change('maria', changes as UserChanges)).rejects.toThrow(TypeError)
    }
    expect(await users.list()).toHaveLength(1)
  })

  test('have passwords only with a provider that hashes them', async () => {
    const users = createUsers({ storage: await openStorage(name), now })
    const rejection = 'password needs an HTTP Basic provider'
    await expect(users.add({ user: 'maria', password: 'secret' })).rejects.toThrow(rejection)
    expect(await users.list()).toEqual([])
    await users.add({ user: 'maria' })
    await expect(users.change('maria', { password: 'secret' })).rejects.toThrow(rejection)
    expect(await users.change('maria', { password: null })).toMatchObject({ user: 'maria' })
  })

  test('a password is nowhere but in its hash', async () => {
    const storage = await openStorage(name)
    const users = createUsers({ storage, now, hashPassword })
    const password = 'correct horse battery staple'
    const answers: unknown[] = [await users.add({ user: 'maria', password })]
    answers.push(await users.change('maria', { password }), await users.list())
    for (const work of [
      () => users.add({ user: 'maria', password }),
      () => users.add({ user: 'a:b', password }),
      () => users.add({ user: 'a', password, roles: [password, password] }),
      () => users.add({ user: 'a', password: { password } as never }),
      () => users.change('john', { password }),
      () => createUsers({ storage, now }).change('maria', { password }),
    ]) {
      answers.push(await work().catch((error: unknown) => (error as Error).stack))
    }
    expect(answers.filter((one) => typeof one === 'string')).toHaveLength(6)
    expect(JSON.stringify([answers, await dump(storage)])).not.toContain('battery')
  })

  test('a row with invalid roles is a failure, not a user without roles', async () => {
    const storage = await openStorage(name)
    const users = createUsers({ storage, now })
    for (const [roles, attributes] of [
      ['{}', '{}'],
      ['[1]', '{}'],
      ['[]', '[]'],
      ['[]', '{"a":{}}'],
    ] as const) {
      const user = `${roles}${attributes}`
      await plant(storage, { user, roles, attributes })
      await expect((async () => users.find(user))()).rejects.toThrow()
    }
  })

  test('roles that are not JSON are a failure, or cannot be stored', async () => {
    const storage = await openStorage(name)
    const users = createUsers({ storage, now })
    const work = async () => {
      await plant(storage, { user: 'broken', roles: '[', attributes: '{}' })
      await users.find('broken')
    }
    await expect(work()).rejects.toThrow()
  })

  test('any flat values and roles are returned as they were stored', async () => {
    const users = await open()
    await users.add({ user: 'maria' })
    const flat = fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0),
    )
    const named = fc.string({ minLength: 1 }).filter((text) => !(text in Object.prototype))
    const roleLists = fc.uniqueArray(fc.string({ minLength: 1, unit: 'grapheme' }))
    await fc.assert(
      fc.asyncProperty(roleLists, fc.dictionary(named, flat), async (roles, attributes) => {
        await users.change('maria', { roles, attributes })
        expect(await users.find('maria')).toMatchObject({ roles })
        expect((await users.find('maria'))?.attributes).toEqual({ ...attributes })
      }),
      { numRuns: 50 },
    )
  })
})

test('a user is found synchronously if storage is synchronous', async () => {
  const users = createUsers({ storage: await openStorage('SQLite file'), now })
  await users.add({ user: 'maria', roles: ['Sales'] })
  const [once, again] = [users.find('maria'), users.find('maria')] as User[]
  expect(once).not.toBeInstanceOf(Promise)
  expect(once).toEqual(again)
  expect(once?.roles).toBe(again?.roles)
})

async function plant(
  storage: StorageAdapter,
  given: { readonly user: string; readonly roles: string; readonly attributes: string },
): Promise<void> {
  const row = { ...given, enabled: true, password: null, created: '2026-01-01T00:00:00Z' }
  await storage.transaction({ mode: 'write', brief: true }, async (transaction) =>
    transaction.insert(securityCollections.users, row),
  )
}
