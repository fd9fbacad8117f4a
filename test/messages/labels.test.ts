import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  error,
  information,
  integer,
  json,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  warning,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { createTestClient, type TestReply } from '../../src/entries/testing.ts'
import { openApiDocument } from '../../src/entries/openapi.ts'
import { mistakesIn, sound } from '../definition/mistakes.ts'

const data = {
  key: 'id',
  fields: {
    id: integer({ label: 'Number' }),
    title: text({ label: { en: 'Title', de: 'Titel' }, maxLength: 3, required: true }),
    seats: integer({ minimum: 1, unique: true }),
    code: text({ label: 'Code', readableBy: ['staff'], writableBy: 'everyone' }),
    hall: integer({ label: 'Hall', references: 'halls' }),
  },
} as const

type Behaviour = CollectionBehaviour<typeof data>

const halls = { key: 'id', fields: { id: integer() } } as const

function serve(behaviour: Behaviour = {}) {
  const events = defineCollection(data, behaviour)
  const service = createService({
    applications: { app: { collections: { events, halls } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: false,
  })
  return { service, client: createTestClient(service) }
}

function messagesOf({ body }: TestReply): readonly string[] {
  return body.validations.map(({ message }) => message)
}

test('messages call a field by its label, and entries by its name', async () => {
  const { client } = serve()
  const { body } = await client.post('/app/events', { id: 1, title: 'long', seats: 0, code: 5 })
  expect(body.validations).toEqual([
    { message: 'Title must have at most 3 characters.', severity: 'error', field: 'title' },
    { message: 'seats must be at least 1.', severity: 'error', field: 'seats' },
    {
      message: 'Code must be a string without U+0000 and lone surrogates.',
      severity: 'error',
      field: 'code',
    },
  ])
})

test('messages about keys, references, unique fields and missing values use labels', async () => {
  const { client } = serve()
  const sent = { title: 'a', seats: 1 }
  await client.post('/app/events', { id: 1, ...sent })
  expect(messagesOf(await client.post('/app/events', { id: 1, title: 'b' }))).toEqual([
    'Another item of events has this Number.',
  ])
  expect(messagesOf(await client.post('/app/events', { id: 2, ...sent, hall: 7 }))).toEqual([
    'Another item of events has this seats.',
    'Hall must be the key of an item of halls.',
  ])
  expect(messagesOf(await client.post('/app/events', { seats: 2 }))).toEqual([
    'Number is required.',
    'Title is required.',
  ])
  expect(messagesOf(await client.post('/app/events/1', { id: 2 }))).toEqual([
    'Number is the key of the item and cannot be changed.',
  ])
})

const rule = { check: () => false, message: '{title} has {seats} seats, {hall} {id}.' } as const

test('a rule with a message of its own says whether the item is valid', async () => {
  const { client } = serve({ validations: [error('size', { ...rule, field: 'seats' })] })
  const { body } = await client.post('/app/events', { id: 1, title: '$&', seats: 2 })
  expect(body.validations).toEqual([
    { message: '$& has 2 seats,  1.', severity: 'error', field: 'seats' },
  ])
  const valid = serve({ validations: [error('size', { check: () => true, message: 'No.' })] })
  expect((await valid.client.post('/app/events', { id: 1, title: 'a' })).status).toBe(200)
})

test('a rule with a message that returns neither true nor false fails', async () => {
  const check = () => 'No.' as never
  const { client } = serve({ validations: [error('size', { check, message: 'Other.' })] })
  expect((await client.post('/app/events', { id: 1, title: 'a' })).status).toBe(500)
})

test('the message of a rule replaces the messages of its validator, once for each field', async () => {
  const issues = [
    { message: 'a', path: ['seats'] },
    { message: 'b', path: ['seats'] },
    { message: 'c', path: ['title'] },
  ]
  const schema = { '~standard': { version: 1, validate: () => ({ issues }) } } as const
  const { client } = serve({ validations: [error('r', { schema, message: 'Not {seats}.' })] })
  const { body } = await client.post('/app/events', { id: 1, title: 'a', seats: 3 })
  expect(body.validations).toEqual([
    { message: 'Not 3.', severity: 'error', field: 'title' },
    { message: 'Not 3.', severity: 'error', field: 'seats' },
  ])
})

test('a message with the value of a field that the caller cannot read is neutral', async () => {
  const secret = { check: () => false, message: 'The code is {code}.' }
  const { service } = serve({
    validations: [error('e', { ...secret, field: 'title' }), information('i', secret)],
  })
  const values = { id: 1, title: 'a', code: 'x' }
  const insertAs = async (roles: readonly string[]) => {
    const events = service.as(principal('maria', { roles })).collection('app', 'events')
    return (await events.insert(values)).validations
  }
  expect(await insertAs([])).toEqual([
    { message: 'A value that you cannot see does not allow this.', severity: 'error' },
  ])
  expect(await insertAs(['staff'])).toEqual([
    { message: 'The code is x.', severity: 'error', field: 'title' },
    { message: 'The code is x.', severity: 'information' },
  ])
})

test('rules and handlers can give a text for each language, and respond in English', async () => {
  const texts = (en: string) => ({ en, de: 'Nein.' })
  const { client, service } = serve({
    validations: [warning('w', { check: () => texts('Sure?') })],
    events: {
      Save: {
        before: ({ error: add, information: note, item, reject }) => {
          if (item.seats === 1) reject(texts('Rejected.'))
          if (item.seats === 2) add(texts('Wrong.'), 'seats')
          note(texts('Noted.'))
        },
        after: ({ fail }) => fail(texts('Failed.')),
      },
    },
  })
  const insert = async (seats: number) =>
    messagesOf(await client.post('/app/events', { id: 1, title: 'a', seats }))
  expect(await insert(1)).toEqual(['Rejected.'])
  expect(await insert(2)).toEqual(['Wrong.', 'Sure?', 'Noted.'])
  const options = { ignoreWarnings: 'all' } as const
  const events = service.as(system).collection('app', 'events')
  expect(await events.insert({ id: 1, title: 'a' }, options)).toMatchObject({ failure: 'Failed.' })
})

test.each([{}, { en: '' }, { de: 'Nein.' }, { en: 'No.', de: 5 }, '', 5, null])(
  'a handler cannot use %j as a message',
  async (message) => {
    const { client } = serve({
      events: { Insert: { before: (event) => event.error(message as never) } },
    })
    expect((await client.post('/app/events', { id: 1, title: 'a' })).status).toBe(500)
  },
)

test('the OpenAPI document has labels as titles', () => {
  const { service } = serve()
  const document = JSON.stringify(openApiDocument(service, { title: 'App' }))
  expect(document).toContain('"title":"Title"')
  expect(document).toContain('"description":"Label: Title."')
  expect(document).not.toContain('Titel')
})

const named = (label: unknown) => ({
  ...sound,
  fields: { ...sound.fields, it: { type: 'json', label } },
})
const ruled = (message: unknown) => ({
  ...named('It'),
  validations: [{ name: 'r', severity: 'error', check: () => true, message }],
})

test.each([
  ['an empty label', named(''), 'fields.it.label'],
  ['a label without English', named({ de: 'Es' }), 'fields.it.label'],
  ['a label by a word', named({ en: 'It', german_: 'Es' }), 'language tags, such as de or de-AT'],
  ['a label by another spelling', named({ en: 'It', 'DE-at': 'Es' }), 'language tags'],
  ['an empty message', ruled(''), 'validations.0.message'],
  [
    'an unknown placeholder',
    ruled('{nam} no'),
    'validations.0.message: {nam} is not a field; did you mean name?',
  ],
  [
    'an unknown placeholder of one language',
    ruled({ en: '{name}', de: '{preis}' }),
    'validations.0.message.de: {preis} is not a field; the fields are id, name, it',
  ],
  ['a placeholder of json', ruled('{it}'), '{it} is a json field, which has no text'],
])('%s is a mistake at start', (_, definition, expected) => {
  expect(mistakesIn(definition).join('\n')).toContain(expected)
})

test('defaults and examples that do not fit are reported by place, not by label', () => {
  const fields = { id: integer({ default: 0, minimum: 1, label: 'Number' }) }
  expect(mistakesIn({ key: 'id', fields })).toContain('fields.id.default: must be at least 1')
})

test('braces that are not around a name are part of the text', async () => {
  const braces = error('b', { check: () => false, message: 'Write {A-1}, {} or { seats }.' })
  const { client } = serve({ validations: [braces] })
  expect(messagesOf(await client.post('/app/events', { id: 1, title: 'a' }))).toEqual([
    'Write {A-1}, {} or { seats }.',
  ])
})

test('labels and messages are checked by the compiler', () => {
  // @ts-expect-error: a label needs an English text
  text({ label: { de: 'Titel' } })
  // @ts-expect-error: json fields have labels, too
  json({ label: 5 })
  // @ts-expect-error: with a message, check returns true or false
  error<{ id: number }>('r', { check: () => 'No.', message: 'No.' })
})
