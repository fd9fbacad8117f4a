import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  warning,
  type Messages,
} from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { english } from '../../src/messages/english.ts'
import { createLanguages } from '../../src/messages/languages.ts'
import { mistakesIn, sound } from '../definition/mistakes.ts'

const tasks = defineCollection(
  {
    key: 'id',
    fields: {
      id: integer(),
      title: text({ required: true, maxLength: 5, label: { en: 'Title', de: 'Titel' } }),
    },
  },
  {
    validations: [
      warning('short', {
        field: 'title',
        check: ({ title }) => title !== 'a',
        message: {
          en: '{title} is short.',
          de: '{title} ist kurz.',
          'de-AT': '{title} ist fei kurz.',
        },
      }),
    ],
    events: {
      Filter: { before: ({ information }) => information({ en: 'Hello.', de: 'Hallo.' }) },
      Insert: {
        before: async ({ item, collection, reject }) => {
          if (item.title !== 'copy') return
          const copied = await collection('tasks').insert({ id: 9 })
          if (copied.rejected) reject(copied.validations[0]?.message ?? copied.message)
        },
        after: ({ item, fail }) => {
          if (item.title === 'fail') fail({ en: 'Failed.', de: 'Gescheitert.' })
        },
      },
    },
    userDefinedEvents: {
      close: ({ error }) => error({ en: 'Closed.', de: 'Zu.' }),
      note: ({ information }) => information({ en: 'Noted.', de: 'Notiert.' }),
    },
  },
)

const german = {
  de: {
    required: '{field} fehlt.',
    maxLength: '{field} darf höchstens {maximum} Zeichen haben.',
    notSaved: 'Die Änderungen wurden nicht gespeichert.',
    confirmSave: 'Die Änderungen müssen bestätigt werden.',
    notAccepted: 'Die Anfrage wurde abgelehnt.',
    notFound: 'Nicht gefunden.',
  },
  'de-AT': { required: '{field} fehlt fei.' },
} as const

function serve(messages?: Messages) {
  return createService({
    applications: { app: { collections: { tasks } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: false,
    ...(messages && { messages }),
  })
}

const accepting = (language: string) => ({ headers: { 'Accept-Language': language } })

describe('a service with languages', () => {
  test('responds in the language of Accept-Language', async () => {
    const client = createTestClient(serve(german))
    const reply = await client.post('/app/tasks', { id: 1, title: 'too long' }, accepting('de'))
    expect(reply.body).toEqual({
      item: { id: 1, title: 'too long' },
      message: 'Die Änderungen wurden nicht gespeichert.',
      validations: [
        { message: 'Titel darf höchstens 5 Zeichen haben.', severity: 'error', field: 'title' },
      ],
      status: 200,
    })
    expect(reply.headers.get('Content-Language')).toBe('de')
    expect(reply.headers.get('Vary')).toBe('Accept-Language')
  })

  test.each([
    ['de-AT', 'Titel fehlt fei.', 'de-AT'],
    ['de-CH', 'Titel fehlt.', 'de'],
    ['fr', 'Title is required.', 'en'],
  ])('responds to %s with the best text that it has', async (language, message, tag) => {
    const client = createTestClient(serve(german))
    const { body, headers } = await client.post('/app/tasks', { id: 1 }, accepting(language))
    expect(body.validations.map((entry) => entry.message)).toEqual([message])
    expect(headers.get('Content-Language')).toBe(tag)
  })

  test('uses English for messages that a language lacks', async () => {
    const client = createTestClient(serve(german))
    const { body } = await client.post('/app/tasks', { id: 1, title: 5 }, accepting('de'))
    expect(body.validations[0]?.message).toMatch(/^Titel must be a string/)
  })

  test('translates errors, and has the headers there, too', async () => {
    const client = createTestClient(serve(german))
    const { body, headers, status } = await client.get('/app/nothing', accepting('de'))
    expect([status, body.message, headers.get('Content-Language')]).toEqual([
      404,
      'Nicht gefunden.',
      'de',
    ])
    const malformed = await client.get('/app/tasks?citty=1', accepting('de'))
    expect(malformed.body.message).toBe('Unknown query parameter: citty.')
  })

  test('translates the messages of handlers, and of calls that handlers make', async () => {
    const client = createTestClient(serve(german))
    const failed = await client.post('/app/tasks', { id: 1, title: 'fail' }, accepting('de'))
    expect(failed.body.message).toBe('Gescheitert.')
    const copied = await client.post('/app/tasks', { id: 2, title: 'copy' }, accepting('de'))
    expect(copied.body.validations.map(({ message }) => message)).toEqual(['Titel fehlt.'])
    const page = await client.get('/app/tasks', accepting('de'))
    expect(page.body.validations).toEqual([{ message: 'Hallo.', severity: 'information' }])
  })

  test('gives a warning the same id in every language, so that it can be confirmed in another', async () => {
    const client = createTestClient(serve(german))
    const send = (language: string, headers: object = {}) =>
      client.post(
        '/app/tasks',
        { id: 1, title: 'a' },
        { headers: { 'Accept-Language': language, ...headers } },
      )
    const [one] = (await send('de-AT')).body.validations
    const [other] = (await send('en')).body.validations
    expect([one?.message, other?.message]).toEqual(['a ist fei kurz.', 'a is short.'])
    expect(one?.validationId).toBe(other?.validationId)
    const confirmed = await send('de', { 'X-Svc-Ignore-Warnings': `"${one?.validationId ?? ''}"` })
    expect(confirmed.status).toBe(200)
  })

  test('replaces English messages, without Vary if there is no other language', async () => {
    const client = createTestClient(serve({ en: { required: 'Please enter {field}.' } }))
    const { body, headers } = await client.post('/app/tasks', { id: 1 }, accepting('de'))
    expect(body.validations[0]?.message).toBe('Please enter Title.')
    expect([headers.get('Content-Language'), headers.get('Vary')]).toEqual(['en', null])
  })

  test('does not mix languages in its cache', async () => {
    const plain = { key: 'id', fields: { id: integer() } } as const
    const service = createService({
      applications: { app: { collections: { plain } } },
      storage: memoryStorage(),
      security: openAccess(),
      messages: german,
    })
    const client = createTestClient(service)
    for (const language of ['de', 'en', 'de', 'en', 'de', 'en']) {
      const { headers } = await client.get('/app/plain', accepting(language))
      expect(headers.get('Content-Language')).toBe(language)
    }
    expect(service.statistics().cache).toMatchObject({ entries: 2 })
  })
})

test.each([undefined, {}])(
  'a service with the messages %j has no headers of languages',
  async (messages) => {
    const client = createTestClient(serve(messages))
    const { body, headers } = await client.post('/app/tasks', { id: 1 }, accepting('de'))
    expect(body.validations[0]?.message).toBe('Title is required.')
    expect([headers.get('Content-Language'), headers.get('Vary')]).toEqual([null, null])
  },
)

describe('calls in process', () => {
  const values = { id: 1, title: 'too long' }

  test('have the language of their option, and English without it', async () => {
    const service = serve(german)
    const messagesIn = async (options?: { readonly language?: string }) => {
      const own = service.as(principal('maria'), options).collection('app', 'tasks')
      const saved = await own.insert(values)
      const many = await own.insertMany([values])
      const changed = await own.change({ id: 1 })
      const closed = await own.invoke('close')
      return [saved, many, changed, closed].map((result) => [
        'message' in result && result.message,
        result.validations[0]?.message,
      ])
    }
    expect(await messagesIn({ language: 'de-DE' })).toEqual([
      ['Die Änderungen wurden nicht gespeichert.', 'Titel darf höchstens 5 Zeichen haben.'],
      ['Die Änderungen wurden nicht gespeichert.', 'Titel darf höchstens 5 Zeichen haben.'],
      ['Die Änderungen wurden nicht gespeichert.', 'Titel fehlt.'],
      ['Die Anfrage wurde abgelehnt.', 'Zu.'],
    ])
    const inEnglish = [
      ['The changes could not be saved.', 'Title must have at most 5 characters.'],
      ['The changes could not be saved.', 'Title must have at most 5 characters.'],
      ['The changes could not be saved.', 'Title is required.'],
      ['The request was rejected.', 'Closed.'],
    ]
    expect(await messagesIn()).toEqual(inEnglish)
    expect(await messagesIn({ language: 'fr' })).toEqual(inEnglish)
  })

  test('translate information, and what a handler kept and failed for', async () => {
    const german_ = serve(german).as(system, { language: 'de' })
    const own = german_.collection('app', 'tasks')
    expect((await own.filter()).validations[0]?.message).toBe('Hallo.')
    expect((await own.invoke('note')).validations[0]?.message).toBe('Notiert.')
    expect(await own.insert({ id: 1, title: 'fail' })).toMatchObject({ failure: 'Gescheitert.' })
    expect(await own.insertMany([{ id: 2, title: 'fail' }])).toMatchObject({
      failures: [{ index: 0, message: 'Gescheitert.' }],
    })
    await german_.transaction(async ({ collection }) => {
      const saved = await collection('app', 'tasks').insert(values)
      expect(saved.validations[0]?.message).toBe('Titel darf höchstens 5 Zeichen haben.')
    })
  })

  test.each([{ langauge: 'de' }, { language: 5 }, { language: null }, 'de'])(
    'throw a TypeError for the options %j',
    (options) => {
      expect(() => serve(german).as(system, options as never)).toThrow(TypeError)
    },
  )
})

const known = createLanguages({ de: {}, 'de-AT': {}, 'zh-Hant': {}, fr: {} })

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['DE', 'de'],
  ['de-at', 'de-AT'],
  ['de-CH-1996', 'de'],
  ['zh-Hant-TW', 'zh-Hant'],
  ['zh-Hant-x-private', 'zh-Hant'],
  ['zh', 'en'],
  ['it', 'en'],
  ['*', 'en'],
  ['*, de', 'de'],
  ['it, fr;q=0.8, de;q=0.9', 'de'],
  ['fr;q=0.5,de;q=0.5', 'fr'],
  ['en, de', 'en'],
  ['en-GB;q=0.9, de;q=0.8', 'en'],
  ['de;q=0, fr;q=0.1', 'fr'],
  ['de; q=0.000', 'en'],
  ['de;q=1.000, fr', 'de'],
  ['fr;q=1.001, de;q=0.1', 'de'],
  ['fr;level=1, de', 'de'],
  ['fr fr, de', 'de'],
  [',,de', 'de'],
  ['de\u0000', 'en'],
  [`${'it, '.repeat(31)}de`, 'de'],
  [`${'it, '.repeat(32)}de`, 'en'],
  [`de${' '.repeat(999)}`, 'en'],
])('Accept-Language %j chooses %s', (header, tag) => {
  expect(known?.of(header).tag).toBe(tag)
})

test.each([
  [{ 'not a tag': {} }, 'options.messages.not a tag: is not a language tag'],
  [{ DE: {} }, 'options.messages.DE: must be written de'],
  [{ de: { requird: '' } }, 'options.messages.de.requird'],
  [
    { de: { requird: 'x' } },
    'options.messages.de.requird: is not a message; did you mean required?',
  ],
  [{ de: { constructor: 'x' } }, 'options.messages.de.constructor: is not a message'],
  [{ de: { required: '' } }, 'options.messages.de.required: must not be empty'],
  [{ de: { required: () => 'x' } }, 'options.messages.de.required: must be a string'],
  [{ de: 'x' }, 'options.messages.de: must be an object'],
  [
    { de: { maxLength: '{maximun}' } },
    'options.messages.de.maxLength: {maximun} is not a placeholder of this message; did you mean maximum?',
  ],
  [{ de: { notFound: '{field}' } }, 'there are no placeholders'],
  [new Map(), 'options.messages: '],
])('the messages %j are a mistake at start', (messages, expected) => {
  expect(mistakesIn(sound, { messages }).join('\n')).toContain(expected)
})

test('names and placeholders of messages are checked by the compiler', () => {
  const options = {
    applications: { app: { collections: { tasks } } },
    storage: memoryStorage(),
    security: openAccess(),
  } as const
  const mistaken = [
    // @ts-expect-error: there is no message of this name
    () => createService({ ...options, messages: { de: { requird: 'x' } } }),
    // @ts-expect-error: the message has no such placeholder
    () => createService({ ...options, messages: { de: { required: '{feld} fehlt.' } } }),
    // @ts-expect-error: a text is a string
    () => createService({ ...options, messages: { de: { required: 5 } } }),
  ]
  for (const create of mistaken) expect(create).toThrow(TypeError)
  const read: Messages = JSON.parse('{"de":{"required":"{field} fehlt."}}') as Messages
  expect(() => createService({ ...options, messages: read })).not.toThrow()
})

test('every text of the catalogue is a sentence that ends with a point', () => {
  for (const sentence of Object.values(english)) expect(sentence).toMatch(/\.$/)
})
