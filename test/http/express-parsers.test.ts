import type { RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { converse, rawRequest, statusesIn } from '../kit/http-client.ts'
import { apps, releases, type ExpressModule } from '../kit/express-app.ts'
import { get, noteService, notesPath, post } from './express-service.ts'
import { startPlain } from '../kit/client-and-tls.ts'

type Parsers = (express: ExpressModule) => readonly RequestHandler[]

const everything = () => true

const verbatim: readonly (readonly [string, Parsers])[] = [
  ['no parser', () => []],
  ['express.raw()', (express) => [express.raw({ type: everything })]],
  ['express.text()', (express) => [express.text({ type: everything })]],
]

/** Whether they leave a way to see two equal names: else the last one is all that is known. */
const parsing: readonly (readonly [string, Parsers, 'seen' | 'unseen'])[] = [
  ['express.json()', (express) => [express.json()], 'unseen'],
  [
    'express.json() of anything',
    (express) => [express.json({ type: everything, strict: false })],
    'unseen',
  ],
  ['two parsers', (express) => [express.urlencoded({ extended: true }), express.json()], 'unseen'],
  [
    'a parser for other types',
    (express) => [express.urlencoded(), express.raw(), express.text()],
    'seen',
  ],
  [
    'express.json() that keeps the bytes',
    (express) => [
      express.json({
        verify: (request, _response, bytes) => void Object.assign(request, { rawBody: bytes }),
      }),
    ],
    'seen',
  ],
]

const every = [...verbatim, ...parsing].map(([name, parsers]) => [name, parsers] as const)

const deep = (levels: number) => `{"extra":${'['.repeat(levels)}${']'.repeat(levels)}}`

/** What every parser lets through. */
const bodies = [
  '{}',
  '{"title":"Milk"}',
  '  { "title" : "Bread \\u00fc \\ud83d\\ude00 🧂", "extra": {"a": [1, 1e-7, true, null, "x"]} }\n',
  '\ufeff{"title":"with a mark"}',
  '{"title":null,"price":"1.50"}',
  '{"price":1e400}',
  '{"price":-1e400}',
  '{"price":-0}',
  '{"extra":{"big":12345678901234567000,"small":-0,"none":{}}}',
  '{"extra":{"toJSON":"text","__proto__":{"a":1},"":0}}',
  '{"title":"\\ud800"}',
  '{"title":5}',
  '{"nope":1}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{}},"toString":1}',
  deep(32),
  deep(33),
  deep(20_000),
  '[]',
  '[{"title":"no bulk"}]',
]

/** A number that JSON.parse rounds. */
const exact = '{"extra":{"10":12345678901234567890.5,"2":1.10}}'

const twice = '{"title":"a","title":"b"}'

/** Bodies that some parsers reject themselves or convert. */
const broken = ['', '{"title":', twice, 'null', '"text"', ' ']

/** Read as text, and so lost: it is rejected all the same. */
const markOnly = '\ufeff'

describe.each(releases)('bodies in $name', ({ express }) => {
  const { begin, later } = apps(express)

  async function behind(before: Parsers, options: Parameters<typeof noteService>[0] = {}) {
    const made = noteService(options)
    const port = await begin((app) => {
      for (const handler of before(express)) app.use(handler)
      app.use('/api', toExpressHandler(made.service))
    })
    return { ...made, port, target: `/api${notesPath}` }
  }

  async function bare() {
    const made = noteService()
    const { port, close } = await startPlain(toNodeHandler(made.service), '127.0.0.1')
    later(close)
    return { ...made, port, target: notesPath }
  }

  async function answersTo(
    { port, target, stored, reports }: Awaited<ReturnType<typeof bare>>,
    sent: readonly string[],
  ) {
    const answers = []
    for (const body of sent) {
      const { status, text } = await post(port, target, body)
      answers.push({ sent: body.slice(0, 60), status, text })
    }
    return { answers, stored: await stored(), reports }
  }

  test.each(every)('after %s they have the same result', async (_name, parsers) => {
    const expected = await answersTo(await bare(), bodies)
    expect(expected.stored.length).toBeGreaterThan(5)
    expect(await answersTo(await behind(parsers), bodies)).toEqual(expected)
  })

  test.each(every)(
    'after %s numbers keep their digits if the body is kept',
    async (name, parsers) => {
      const { port, target } = await behind(parsers)
      const { text } = await post(port, target, exact)
      const isRounded = parsing.some((one) => one[0] === name && one[2] === 'unseen')
      const rounded = '{"extra":{"2":1.1,"10":12345678901234567000}}'
      expect(text).toContain((isRounded ? rounded : exact).slice(1, -1))
    },
  )

  test.each(verbatim)('after %s invalid ones have the same result', async (_name, parsers) => {
    const expected = await answersTo(await bare(), broken)
    expect(expected).toMatchObject({ stored: [], reports: [] })
    const own = await behind(parsers)
    expect(await answersTo(own, broken)).toEqual(expected)
    expect((await post(own.port, own.target, markOnly)).status).toBe(400)
    expect(await own.stored()).toEqual([])
  })

  test.each(parsing)('after %s invalid ones are not stored', async (_name, parsers, names) => {
    const { port, target, stored, reports } = await behind(parsers)
    for (const body of [...broken, markOnly]) {
      const headers = { 'Content-Type': 'application/json' }
      // The response of a parser itself is not JSON.
      const answer = await fetch(`http://127.0.0.1:${port}${target}`, {
        method: 'POST',
        headers,
        body: Buffer.from(body),
      })
      const status = body === twice && names === 'unseen' ? 200 : 400
      expect({ body, status: answer.status }).toEqual({ body, status })
    }
    const titles = (await stored()).map(({ title }) => title)
    expect(titles).toEqual(names === 'unseen' ? ['b'] : [])
    expect(reports).toEqual([])
  })

  test.each(every)('after %s an empty body is not an item', async (_name, parsers) => {
    const { port, target, stored, reports } = await behind(parsers)
    const json = 'Content-Type: application/json'
    for (const headers of [[], [json], ['Content-Length: 0'], [json, 'Content-Length: 0']]) {
      const received = await converse(port, rawRequest(`POST ${target}`, headers))
      expect(statusesIn(received)).toEqual([400])
      expect(received).toContain('A request body is required')
    }
    const chunked = [json, 'Transfer-Encoding: chunked']
    const empty = rawRequest(`POST ${target}`, chunked, '0\r\n\r\n')
    expect(statusesIn(await converse(port, empty))).toEqual([400])
    expect(await stored()).toEqual([])
    const item = rawRequest(`POST ${target}`, chunked, 'd\r\n{"title":"c"}\r\n0\r\n\r\n')
    expect(statusesIn(await converse(port, item))).toEqual([200])
    expect(await stored()).toMatchObject([{ title: 'c' }])
    expect(reports).toEqual([])
  })

  test.each(every)('behind %s other media are 415', async (_name, parsers) => {
    const { port, target, stored } = await behind(parsers)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/json']) {
      const headers = { 'Content-Type': type }
      const answer = await get(port, target, { method: 'POST', headers, body: '{}' })
      expect(answer).toMatchObject({ status: 415, headers: { accept: 'application/json' } })
    }
    expect(await stored()).toEqual([])
  })

  test.each(every)('after %s the limit applies', async (_name, parsers) => {
    const { port, target, stored } = await behind(parsers, { bodyLimit: 40 })
    const fits = `{"title":"${'x'.repeat(28)}"}`
    const longer = `{"title":"${'x'.repeat(29)}"}`
    const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    for (const [body, status] of [
      [fits, 200],
      [longer, 413],
    ] as const) {
      expect((await post(port, target, body)).status).toBe(status)
      const raw = rawRequest(`POST ${target}`, chunked, chunk(body))
      expect(statusesIn(await converse(port, raw))).toEqual([status])
    }
    expect(await stored()).toHaveLength(2)
  })
})
