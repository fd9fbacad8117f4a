import { expect, test } from 'vitest'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { address, bytes, insertion, json, openDesk, watchedStream } from './desk.ts'

test('a body may come in pieces', async () => {
  const { stream } = watchedStream(['{"note', 'Id"', ':7}'].map(bytes))
  const answer = await toFetchHandler(openDesk().service)(insertion(stream))
  expect(await answer.json()).toMatchObject({ item: { noteId: 7 } })
})

test('a body may come as views of larger buffers', async () => {
  const buffer = bytes('..{"noteId":7}..').buffer
  const { stream } = watchedStream([new DataView(buffer, 2, 12)])
  const answer = await toFetchHandler(openDesk().service)(insertion(stream))
  expect(await answer.json()).toMatchObject({ item: { noteId: 7 } })
})

test('a body is not read beyond the limit', async () => {
  const { seen, stream } = watchedStream(Array.from({ length: 9 }, () => new Uint8Array(40)))
  const answer = await toFetchHandler(openDesk({ bodyLimit: 100 }).service)(insertion(stream))
  expect(answer.status).toBe(413)
  expect(seen).toEqual({ taken: 3, cancelled: true })
})

test('a body of exactly the limit is read', async () => {
  const body = '{"noteId":1}'
  const rest = toFetchHandler(openDesk({ bodyLimit: body.length }).service)
  expect((await rest(insertion(body))).status).toBe(200)
  expect((await rest(insertion(`${body} `))).status).toBe(413)
})

test('a body is not touched by requests that need none', async () => {
  const rest = toFetchHandler(openDesk().service)
  for (const init of [
    { method: 'DELETE' },
    { method: 'PUT' },
    { method: 'POST', headers: { 'Content-Type': 'text/plain' } },
  ]) {
    const { seen, stream } = watchedStream([bytes('{"noteId":1}')])
    await rest(insertion(stream, init))
    expect(seen).toEqual({ taken: 0, cancelled: false })
  }
})

test('a body that is missing responds 400', async () => {
  const request = new Request(address, { method: 'POST', headers: json })
  const answer = await toFetchHandler(openDesk().service)(request)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    message: 'A request body is required: one JSON object.',
  })
})

test('a body that breaks off responds 400', async () => {
  const stream = new ReadableStream({
    pull: (controller) => {
      controller.error(new Error('the line is dead'))
    },
  })
  const answer = await toFetchHandler(openDesk().service)(insertion(stream))
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('not complete')
})

test.each([
  ['was read', (request: Request) => request.text()],
  ['is being read', (request: Request) => Promise.resolve(request.body?.getReader())],
])('a body that %s before responds 500, and the cause is reported', async (_how, use) => {
  const { service, errors } = openDesk()
  const rest = toFetchHandler(service)
  const request = insertion('{"noteId":1}')
  await use(request)
  const answer = await rest(request)
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('read before')
  expect(errors()).toEqual([
    'Error: The request body was read before the service could read it. Pass the request on unread, or read a clone of it.',
  ])
  expect(await (await rest(new Request(address))).json()).toMatchObject({ items: [] })
})

test('a body of which a clone was read is still there', async () => {
  const request = insertion('{"noteId":1}')
  await request.clone().text()
  expect((await toFetchHandler(openDesk().service)(request)).status).toBe(200)
})

test('a body that is not a stream of bytes responds 500', async () => {
  const { stream } = watchedStream(['{"noteId":1}'])
  const { service, errors } = openDesk()
  expect((await toFetchHandler(service)(insertion(stream))).status).toBe(500)
  expect(errors()).toEqual(['TypeError: The request body is not a stream of bytes.'])
})
