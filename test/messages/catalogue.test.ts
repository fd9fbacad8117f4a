import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  bigint,
  boolean,
  createService,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  error,
  instant,
  integer,
  json,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  time,
  uuid,
  warning,
} from '../../src/entries/index.ts'
import { createTestClient, type TestReply } from '../../src/entries/testing.ts'
import { english, type MessageName } from '../../src/messages/english.ts'
import type { Messages } from '../../src/messages/languages.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'

const names = Object.keys(english) as readonly MessageName[]

/** Every text in a language of its own, which begins with the name of the message. */
const messages = {
  de: Object.fromEntries(names.map((name) => [name, `<${name}> ${english[name]}`])),
} as Messages

const values = {
  key: 'id',
  fields: {
    id: text(),
    padded: text({ storedAs: 'char' }),
    integer: integer({ minimum: 2, maximum: 3 }),
    bigint: bigint(),
    decimal: decimal({ precision: 5, scale: 2 }),
    double: double(),
    boolean: boolean(),
    date: date(),
    time: time(),
    dateTime: dateTime(),
    instant: instant(),
    uuid: uuid(),
    json: json(),
    letter: text({ enumeration: ['a', 'b'], pattern: '^a' }),
    short: text({ minLength: 2, maxLength: 3 }),
    fixed: text({ readOnly: true }),
    secret: text({ readableBy: ['staff'], unique: true, writableBy: 'everyone' }),
  },
} as const
const pairs = { key: ['a', 'b'], fields: { a: text(), b: text() } } as const
const people = {
  key: 'id',
  fields: { id: integer(), boss: integer({ references: 'people', onDelete: 'cascade' }) },
} as const
const rooms = {
  key: 'id',
  fields: { id: integer(), of: integer({ references: 'people' }) },
  concurrency: { ifMatch: 'optional' },
} as const
const stubborn = { key: 'id', fields: { id: integer(), b: integer() } } as const
const guarded = { key: 'id', fields: { id: integer() }, roles: ['staff'] } as const
const asking = defineCollection(
  { key: 'id', fields: { id: integer() } },
  {
    validations: [
      warning('sure', {
        events: ['Insert', 'Delete'],
        check: ({ id }) => id !== 2,
        message: 'Sure?',
      }),
      error('never', { events: ['Delete'], check: ({ id }) => id !== 1, message: 'No.' }),
    ],
    events: { Filter: { before: (event) => event.error('No.') } },
  },
)

/** Memory in which inserts of one collection fail, and an update leaves out a value that does not fit. */
function failing(failures: readonly unknown[]): StorageAdapter {
  const memory = memoryStorage()
  const remaining = [...failures]
  return {
    ...memory,
    transaction: (options, work) =>
      memory.transaction(options, (on) =>
        work({
          ...on,
          insert: (collection, row) => {
            if (collection.name === 'stubborn') throw remaining.shift()
            return on.insert(collection, row)
          },
          update: async (collection, conditions, changes) => {
            const row = await on.update(collection, conditions, changes)
            const members = Object.entries(row ?? {}).filter(([name]) => name !== 'letter')
            return row && Object.fromEntries(members)
          },
        }),
      ),
  }
}

const applications = {
  app: { collections: { values, pairs, people, rooms, stubborn, guarded, asking } },
}
const options = { report: false, bodyLimit: 3_000, maxTargetLength: 1_000, messages } as const
const accepting = { headers: { 'Accept-Language': 'de' } }
const seen = new Set<string>()

/** Remembers the names of the messages of a response in the other language. */
function note({ body }: Pick<TestReply, 'body'>): void {
  for (const message of [body.message, ...body.validations.map((entry) => entry.message)]) {
    const [, name] = /^<(\w+)> /.exec(message ?? '') ?? []
    if (name !== undefined) seen.add(name)
  }
}

async function sendWrongItems(): Promise<void> {
  const failures = [
    new StorageError('invalid'),
    new StorageError('invalid', { fields: ['b'] }),
    new StorageError('invalid', { fields: ['id', 'b'] }),
    new StorageError('duplicate'),
    new StorageError('referenced'),
    new StorageError('unavailable'),
    new Error('No.'),
  ]
  const storage = failing(failures)
  const service = createService({ applications, storage, security: openAccess(), ...options })
  const client = createTestClient(service, accepting)
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    note(await client.post(`/app/${path}`, body, { headers }))
  }
  const wrong = Object.fromEntries(Object.keys(values.fields).map((name) => [name, []]))
  await post('values', { ...wrong, json: '\0', nothing: 1 })
  await post('values', { id: 'a', integer: 1, letter: 'c', short: 'abcd', fixed: 'x' })
  await post('values', { id: 'b', integer: 4, short: 'a' })
  await post('values', {})
  await post('values', { id: '' })
  await post('values', { id: '..' })
  await post('values', { id: 'x'.repeat(1_500) })
  await post('values', 'x'.repeat(4_000))
  await post('values', { id: 'a', secret: 's' })
  await post('values', { id: 'a' })
  await post('values/a', { id: 'b' })
  await post('values/a', { short: 'abc' })
  await post('pairs', { a: 'a,b', b: 'b' })
  await post('people', { id: 1, boss: 7 })
  for (const _failure of failures) await post('stubborn', { id: 1 })
  await post('asking', { id: 1 })
  await post('asking', { id: 2 })
  const within = service.as(system)
  const ignoreWarnings = 'all'
  await within.collection('app', 'asking').insert({ id: 2 }, { ignoreWarnings })
  const chain = Array.from({ length: 1_003 }, (_, id) => ({ id, boss: id === 0 ? null : id - 1 }))
  await within.collection('app', 'people').insertMany(chain)
  await within.collection('app', 'rooms').insert({ id: 1, of: 1_002 })
  note(await client.post('/app/rooms/1', {}, { headers: { 'If-Match': '"a"' } }))
  for (const path of ['asking/1', 'asking/2', 'people/0', 'people/1002', 'values'])
    note(await client.delete(`/app/${path}`))
  note(await client.get('/app/asking'))
  note(await client.get('/app/nothing'))
}

async function sendWithoutRights(): Promise<void> {
  let isExhausted = false
  // As rate-limiter-flexible does.
  const consume = async (): Promise<unknown> => {
    if (isExhausted) throw Object.assign(new Error('No points are left.'), { msBeforeNext: 1 })
    return Promise.resolve()
  }
  const service = createService({
    applications,
    storage: memoryStorage(),
    security: apiKeys({ name: 'keys', properties: { AllowApiKeyInQueryString: true } }),
    limits: { requests: { consume } },
    ...options,
  })
  await service.users.add({ user: 'maria' })
  const { key } = await service.keys.create({ user: 'maria' })
  const client = createTestClient(service, accepting)
  await service
    .as(principal('ann', { roles: ['staff'] }))
    .collection('app', 'values')
    .insert({
      id: 'a',
      secret: 's',
    })
  note(await client.post('/app/values', { id: 'b', secret: 's' }, { key }))
  note(await client.get('/app/guarded', { key }))
  note(await client.get('/app/values'))
  note(await client.get('/app/values', { key, query: { apiKey: key } }))
  note(await createTestClient(service, { ...accepting, secure: false }).get('/app/values', { key }))
  isExhausted = true
  note(await client.get('/app/values', { key }))
  await service.close()
}

async function sendWithKeys(): Promise<void> {
  const service = createService({
    applications: { app: { ...applications.app, idempotencyKeys: { maxBytes: 1 } } },
    storage: memoryStorage(),
    security: openAccess(),
    ...options,
  })
  const client = createTestClient(service, accepting)
  const headers = { 'Idempotency-Key': 'k' }
  const post = async (b: string) =>
    note(await client.post('/app/pairs', { a: 'a', b }, { headers }))
  await Promise.all([post('b'), post('b')])
  await post('b')
  await post('c')
  await service.close()
}

test('every text that the library sends has the language of the client', async () => {
  await sendWrongItems()
  await sendWithoutRights()
  await sendWithKeys()
  // Warnings of a Filter and of a user-defined event never reject it.
  expect(names.filter((name) => !seen.has(name))).toEqual(['confirmRequest'])
})

test('the guide lists every text', () => {
  const guide = readFileSync('docs/guides/messages.md', 'utf8')
  const rows = Array.from(guide.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm), ([, name, sentence]) => [
    name,
    sentence,
  ])
  expect(Object.fromEntries(rows)).toEqual(english)
})
