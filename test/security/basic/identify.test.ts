import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isServiceError } from '../../../src/errors.ts'
import { contextOf, people, person, requestWith } from './context.ts'
import { basic, provider, settle } from './provider.ts'

const given = provider({ name: 'Doors' })
const password = 'correct: horse 🔑'
const maria = person('maria', {
  roles: ['Sales'],
  attributes: { region: 'North' },
  password: await given.hash(password),
})
const zoe = person('Zoë Müller', { password: await given.hash('пароль') })
const gone = person('gone', { enabled: false, password: await given.hash(password) })
const mute = person('mute')
const users = people(maria, zoe, gone, mute)
const context = contextOf(users)

test('the right password is the user', async () => {
  const principal = await given.identify(basic('maria', password), context)
  expect(principal).toEqual({
    user: 'maria',
    roles: ['Sales'],
    attributes: { region: 'North' },
    provider: 'Doors',
    keyId: null,
    kind: 'user',
  })
})

test('a principal is frozen and does not change the user’s record', async () => {
  const principal = await given.identify(basic('maria', password), context)
  expect(principal).toSatisfy(Object.isFrozen)
  expect(principal).toHaveProperty('roles', expect.toSatisfy(Object.isFrozen))
  expect(principal).toHaveProperty('attributes', expect.toSatisfy(Object.isFrozen))
  expect(Object.isFrozen(maria.roles)).toBe(false)
})

test('names and passwords are UTF-8', async () => {
  const credential = given.find(requestWith(`bAsIc ${basic('Zoë Müller', 'пароль').value}`))
  expect(credential).toBeDefined()
  expect(await given.identify(credential ?? fail(), context)).toMatchObject({ user: 'Zoë Müller' })
})

test.each([
  ['a wrong password', basic('maria', 'wrong'), { rejected: 'unknown', user: 'maria' }],
  ['an empty password', basic('maria', ''), { rejected: 'unknown', user: 'maria' }],
  [
    'a password cut at its colon',
    basic('maria', 'correct'),
    { rejected: 'unknown', user: 'maria' },
  ],
  ['somebody else’s password', basic('maria', 'пароль'), { rejected: 'unknown', user: 'maria' }],
  ['a user without a password', basic('mute', ''), { rejected: 'unknown', user: 'mute' }],
  ['a disabled user', basic('gone', password), { rejected: 'user-disabled', user: 'gone' }],
  ['a disabled user’s wrong one', basic('gone', 'x'), { rejected: 'user-disabled', user: 'gone' }],
  ['an unknown user, without the name', basic('hunter2', 'x'), { rejected: 'user-unknown' }],
  ['another case of the user', basic('Maria', password), { rejected: 'user-unknown' }],
  ['no Basic credential', { place: 'header authorization', value: '%' }, { rejected: 'malformed' }],
])('%s is rejected', async (_, credential, rejection) => {
  expect(await given.identify(credential, context)).toStrictEqual(rejection)
})

test('a stored password that can’t be read is a fault, not a wrong password', async () => {
  const broken = contextOf(people(person('maria', { password: `plain ${password}` })))
  const { error } = await settle(given.identify(basic('maria', password), broken))
  expect(error).toBeInstanceOf(Error)
  expect(isServiceError(error)).toBe(false)
  expect(inspect(error)).not.toContain('horse')
})

test('a fault of the users’ store is not a wrong password', async () => {
  const find = () => Promise.reject(new Error('The store is down.'))
  const answer = given.identify(basic('maria', password), { ...context, users: { find } })
  await expect(answer).rejects.toThrow('The store is down.')
})

test('users may come late', async () => {
  const find = (user: string) => Promise.resolve(users.get(user))
  const late = { ...context, users: { find } }
  expect(await given.identify(basic('maria', password), late)).toMatchObject({ user: 'maria' })
  expect(await given.identify(basic('nobody', password), late)).toMatchObject({
    rejected: 'user-unknown',
  })
})

test('no result contains the password or its hash', async () => {
  const credentials = [
    basic('maria', password),
    basic('maria', 'horse'),
    basic('gone', password),
    basic('nobody', password),
  ]
  for (const credential of credentials) {
    const shown = inspect(await given.identify(credential, context), { showHidden: true, depth: 9 })
    expect(shown).not.toMatch(/horse|scrypt/)
  }
})

test('garbage is never anybody and never throws', async () => {
  // Much of it is a wrong password of one user: with limits, the 31st would throw.
  const unlimited = provider({ attempts: false })
  const garbage = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.base64String(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.string().map((text) => Buffer.from(text).toString('base64')),
    fc.string().map((text) => basic('maria', text).value),
  )
  await fc.assert(
    fc.asyncProperty(garbage, async (value) => {
      expect(
        await unlimited.identify({ place: 'header authorization', value }, context),
      ).toHaveProperty('rejected')
    }),
  )
})

describe('with the function verify', () => {
  const asked: string[] = []
  const own = provider({
    verify: (user, text) => {
      asked.push(`${user}:${text}`)
      return text === 'open sesame'
    },
  })

  test('the function decides about the password', async () => {
    expect(await own.identify(basic('mute', 'open sesame'), context)).toMatchObject({
      user: 'mute',
    })
    expect(await own.identify(basic('maria', password), context)).toStrictEqual({
      rejected: 'unknown',
      user: 'maria',
    })
  })

  test('users still have to exist and to be enabled', async () => {
    expect(await own.identify(basic('gone', 'open sesame'), context)).toMatchObject({
      rejected: 'user-disabled',
    })
    expect(await own.identify(basic('nobody', 'open sesame'), context)).toMatchObject({
      rejected: 'user-unknown',
    })
  })

  test('the function is called on each request, also for disabled users', async () => {
    asked.length = 0
    const names = ['maria', 'maria', 'gone', 'nobody']
    for (const name of names) await own.identify(basic(name, 'open sesame'), context)
    expect(asked).toEqual(names.map((name) => `${name}:open sesame`))
  })

  test('nothing but true is a yes', async () => {
    const lax = provider({ verify: (() => 'no') as unknown as () => boolean })
    expect(await lax.identify(basic('maria', 'x'), context)).toHaveProperty('rejected', 'unknown')
  })

  test('an asynchronous check is awaited, and one that rejects is a failure', async () => {
    const late = provider({ verify: async (_, text) => Promise.resolve(text === 'yes') })
    expect(await late.identify(basic('maria', 'yes'), context)).toMatchObject({ user: 'maria' })
    expect(await late.identify(basic('maria', 'no'), context)).toHaveProperty('rejected')
    const failing = provider({ verify: () => Promise.reject(new Error('The directory is down.')) })
    await expect(failing.identify(basic('maria', 'yes'), context)).rejects.toThrow(
      'directory is down',
    )
  })
})

function fail(): never {
  throw new Error('There was no credential.')
}
