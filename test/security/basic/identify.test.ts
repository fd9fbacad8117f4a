import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isServiceError } from '../../../src/errors.ts'
import { houseOf, people, person, requestWith } from './house.ts'
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
const house = houseOf(users)

test('the right password is the user', async () => {
  const principal = await given.identify(basic('maria', password), house)
  expect(principal).toEqual({
    user: 'maria',
    roles: ['Sales'],
    attributes: { region: 'North' },
    provider: 'Doors',
    keyId: null,
  })
})

test('a principal is frozen and leaves the user’s record as it is', async () => {
  const principal = await given.identify(basic('maria', password), house)
  expect(principal).toSatisfy(Object.isFrozen)
  expect(principal).toHaveProperty('roles', expect.toSatisfy(Object.isFrozen))
  expect(principal).toHaveProperty('attributes', expect.toSatisfy(Object.isFrozen))
  expect(Object.isFrozen(maria.roles)).toBe(false)
})

test('names and passwords are UTF-8', async () => {
  const credential = given.find(requestWith(`bAsIc ${basic('Zoë Müller', 'пароль').value}`))
  expect(credential).toBeDefined()
  expect(await given.identify(credential ?? fail(), house)).toMatchObject({ user: 'Zoë Müller' })
})

test.each([
  ['a wrong password', basic('maria', 'wrong'), { refused: 'unknown', user: 'maria' }],
  ['an empty password', basic('maria', ''), { refused: 'unknown', user: 'maria' }],
  ['a password cut at its colon', basic('maria', 'correct'), { refused: 'unknown', user: 'maria' }],
  ['somebody else’s password', basic('maria', 'пароль'), { refused: 'unknown', user: 'maria' }],
  ['a user without a password', basic('mute', ''), { refused: 'unknown', user: 'mute' }],
  ['a disabled user', basic('gone', password), { refused: 'user-disabled', user: 'gone' }],
  ['a disabled user’s wrong one', basic('gone', 'x'), { refused: 'user-disabled', user: 'gone' }],
  ['an unknown user, without the name', basic('hunter2', 'x'), { refused: 'user-unknown' }],
  ['another case of the user', basic('Maria', password), { refused: 'user-unknown' }],
  ['no Basic credential', { place: 'header authorization', value: '%' }, { refused: 'malformed' }],
])('%s is refused', async (_, credential, refusal) => {
  expect(await given.identify(credential, house)).toStrictEqual(refusal)
})

test('a stored password that can’t be read is a fault, not a wrong password', async () => {
  const broken = houseOf(people(person('maria', { password: `plain ${password}` })))
  const { error } = await settle(given.identify(basic('maria', password), broken))
  expect(error).toBeInstanceOf(Error)
  expect(isServiceError(error)).toBe(false)
  expect(inspect(error)).not.toContain('horse')
})

test('a fault of the users’ store is not a wrong password', async () => {
  const find = () => Promise.reject(new Error('The store is down.'))
  const answer = given.identify(basic('maria', password), { ...house, users: { find } })
  await expect(answer).rejects.toThrow('The store is down.')
})

test('users may come late', async () => {
  const find = (user: string) => Promise.resolve(users.get(user))
  const late = { ...house, users: { find } }
  expect(await given.identify(basic('maria', password), late)).toMatchObject({ user: 'maria' })
  expect(await given.identify(basic('nobody', password), late)).toMatchObject({
    refused: 'user-unknown',
  })
})

test('no answer has the password or its hash in it', async () => {
  const credentials = [
    basic('maria', password),
    basic('maria', 'horse'),
    basic('gone', password),
    basic('nobody', password),
  ]
  for (const credential of credentials) {
    const shown = inspect(await given.identify(credential, house), { showHidden: true, depth: 9 })
    expect(shown).not.toMatch(/horse|scrypt/)
  }
})

test('garbage is never anybody and never throws', async () => {
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
      expect(await given.identify({ place: 'header authorization', value }, house)).toHaveProperty(
        'refused',
      )
    }),
  )
})

describe('with the host’s own check', () => {
  const asked: string[] = []
  const own = provider({
    verify: (user, text) => {
      asked.push(`${user}:${text}`)
      return text === 'open sesame'
    },
  })

  test('the host decides about the password', async () => {
    expect(await own.identify(basic('mute', 'open sesame'), house)).toMatchObject({ user: 'mute' })
    expect(await own.identify(basic('maria', password), house)).toStrictEqual({
      refused: 'unknown',
      user: 'maria',
    })
  })

  test('users still have to exist and to be enabled', async () => {
    expect(await own.identify(basic('gone', 'open sesame'), house)).toMatchObject({
      refused: 'user-disabled',
    })
    expect(await own.identify(basic('nobody', 'open sesame'), house)).toMatchObject({
      refused: 'user-unknown',
    })
  })

  test('the host is asked for users that may not ask, and each time', async () => {
    asked.length = 0
    const names = ['maria', 'maria', 'gone', 'nobody']
    for (const name of names) await own.identify(basic(name, 'open sesame'), house)
    expect(asked).toEqual(names.map((name) => `${name}:open sesame`))
  })

  test('nothing but true is a yes', async () => {
    const lax = provider({ verify: (() => 'no') as unknown as () => boolean })
    expect(await lax.identify(basic('maria', 'x'), house)).toHaveProperty('refused', 'unknown')
  })

  test('a check that comes late counts, and one that fails is a fault', async () => {
    const late = provider({ verify: async (_, text) => Promise.resolve(text === 'yes') })
    expect(await late.identify(basic('maria', 'yes'), house)).toMatchObject({ user: 'maria' })
    expect(await late.identify(basic('maria', 'no'), house)).toHaveProperty('refused')
    const failing = provider({ verify: () => Promise.reject(new Error('The directory is down.')) })
    await expect(failing.identify(basic('maria', 'yes'), house)).rejects.toThrow(
      'directory is down',
    )
  })
})

function fail(): never {
  throw new Error('There was no credential.')
}
