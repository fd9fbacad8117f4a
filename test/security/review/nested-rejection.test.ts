import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  principal,
  system,
  text,
} from '../../../src/entries/index.ts'
import type { SecurityProvider } from '../../../src/entries/security.ts'

const people = defineCollection(
  {
    key: 'name',
    fields: {
      name: text(),
      salary: text({ readableBy: ['Boss'], writableBy: ['Boss'] }),
    },
  },
  {
    events: {
      Update: {
        after: ({ item, error }) => {
          error(`The salary ${item.salary ?? ''} is too high.`, 'salary')
          error('There is no money left.')
        },
      },
      Insert: {
        after: async ({ item, system: host }) => {
          if (item.name === 'ann') return
          await host.collection('people').update('ann', { salary: '9000' })
        },
      },
    },
    userDefinedEvents: {
      raise: async ({ system: host }) => {
        await host.collection('people').update('ann', { salary: '9000' })
      },
    },
  },
)

const users: SecurityProvider = {
  name: 'Users',
  priority: 1,
  challenge: 'User',
  find: (request) => ({ place: 'header user', value: request.header('user') ?? '' }),
  identify: ({ value }) => principal(value, { roles: value === 'boss' ? ['Boss'] : [] }),
}

const hidden = {
  message: 'A value that you cannot see does not allow this.',
  severity: 'error',
}
const shown = { message: 'The salary 9000 is too high.', severity: 'error', field: 'salary' }
const other = { message: 'There is no money left.', severity: 'error' }

test.each([
  ['joe', hidden],
  ['boss', shown],
])('what a rejection inside of another event says to %s', async (user, entry) => {
  const service = createService({
    applications: { firm: { collections: { people } } },
    storage: memoryStorage(),
    security: users,
  })
  await service.as(system).collection('firm', 'people').insert({ name: 'ann', salary: '1' })
  const { status, body } = await service.handle({
    method: 'POST',
    target: '/rest/v1/firm/people',
    header: (name) =>
      ({ user, 'content-type': 'application/json', 'content-length': '14' })[name as 'user'],
    secure: true,
    peer: undefined,
    body: () => Promise.resolve(new TextEncoder().encode('{"name":"bob"}')),
    signal: undefined,
  })
  const { validations } = JSON.parse(body) as { readonly validations: readonly object[] }
  expect(status).toBe(400)
  expect(new Set(validations)).toEqual(new Set([entry, other]))

  const roles = user === 'boss' ? ['Boss'] : []
  const raised = await service
    .as(principal(user, { roles }))
    .collection('firm', 'people')
    .invoke('raise')
  expect(raised.rejected).toBe(true)
  expect(new Set(raised.validations)).toEqual(new Set([entry, other]))
  await service.close()
})
