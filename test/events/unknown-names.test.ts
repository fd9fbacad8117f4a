import { expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  type CollectionAccess,
  type CollectionShape,
  type Observation,
} from '../../src/entries/index.ts'

const fields = { noteId: integer(), title: text(), city: text() }
const notes = defineCollection({ key: 'noteId', fields })

function access(): CollectionAccess<CollectionShape> {
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  return service.as(system).collection('desk', 'notes')
}

const calls: readonly (readonly [
  string,
  (notes: CollectionAccess<CollectionShape>) => Promise<unknown>,
])[] = [
  ['limt is not an option; did you mean limit?', (all) => all.filter({}, { limt: 1 } as never)],
  ['no field citty; did you mean city?', (all) => all.filter({ citty: 'Lyon' })],
  ['no field citty; did you mean city?', (all) => all.filter({}, { sort: ['citty'] })],
  ['The conditions must be an object', (all) => all.filter([] as never)],
  ['The conditions must be an object', (all) => all.filter(5 as never)],
  ['The options of filter must be an object', (all) => all.filter({}, 5 as never)],
  ['sort must be a list', (all) => all.filter({}, { sort: 'city' as never })],
  ['q must be a string', (all) => all.filter({}, { q: 5 as never })],
  ['count must be true or false', (all) => all.filter({}, { count: 'yes' as never })],
  ['no field citty; did you mean city?', (all) => all.insert({ noteId: 1, citty: 'x' })],
  ['no field citty; did you mean city?', (all) => all.update(1, { citty: 'x' })],
  ['no field citty; did you mean city?', (all) => all.change({ citty: 'x' })],
  ['The values must be an object', (all) => all.insert(undefined as never)],
  [
    'Insert: ignoreWarning is not an option; did you mean ignoreWarnings?',
    (all) => all.insert({ noteId: 1 }, { ignoreWarning: 'all' } as never),
  ],
  ['Delete: ignoreWarnings must be a list of ids', (all) => all.delete(1, { ignoreWarnings: 'a' })],
]

test.each(calls)('a call is rejected with "%s"', async (message, call) => {
  const calling = call(access())
  await expect(calling).rejects.toThrow(TypeError)
  await expect(calling).rejects.toThrow(message)
})

test.each([['maria'], [undefined], [{ user: 'maria' }], [{ user: 5, roles: [], attributes: {} }]])(
  'as(%j) throws a TypeError that says what to give',
  (given) => {
    const service = createService({
      applications: { desk: { collections: { notes } } },
      storage: memoryStorage(),
      security: openAccess(),
    })
    expect(() => service.as(given as never)).toThrow(TypeError)
    expect(() => service.as(given as never)).toThrow("principal('maria', { roles: ['Sales'] })")
  },
)

test('principal rejects an unknown option and roles that are not a list', () => {
  expect(() => principal('maria', { role: ['Sales'] } as never)).toThrow('did you mean roles?')
  expect(() => principal('maria', { roles: 'Sales' as never })).toThrow(TypeError)
  expect(() => principal(5 as never)).toThrow('the user must be a string')
})

test('a finding of a handler about an unknown field is a failure that names it', async () => {
  const reports: Observation[] = []
  const service = createService({
    applications: {
      desk: {
        collections: {
          notes: defineCollection(
            { key: 'noteId', fields },
            { events: { Insert: { before: (event) => event.error('No.', 'citty' as never) } } },
          ),
        },
      },
    },
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  expect((await createTestClient(service).post('/desk/notes', { noteId: 1 })).status).toBe(500)
  const error = expect.objectContaining({
    message: 'The collection notes has no field citty; did you mean city?',
  }) as Error
  expect(reports).toMatchObject([{ type: 'handler-failed', error }])
})
