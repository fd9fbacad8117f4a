import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  principal,
  text,
  type ServiceReply,
} from '../../src/entries/index.ts'
import { newKey, plainKeys } from '../kit/keys.ts'
import { openStorage, storages } from '../kit/storages.ts'

const titles = { key: 'id', fields: { id: text(), title: text() } } as const
const notes = defineCollection(titles)
const watched = defineCollection(titles, { events: { Filter: { after: async () => undefined } } })

/** A service with one note, and a function that sends it a request with an API key. */
async function open(on: (typeof storages)[number]) {
  const service = createService({
    applications: { app: { collections: { notes, watched } } },
    storage: openStorage(on),
    security: plainKeys(),
  })
  onTestFinished(() => service.close())
  const { key } = await newKey(service)
  await service.as(principal('maria')).collection('app', 'notes').insert({ id: 'a', title: 'A' })
  return (method: string, path: string, headers?: Record<string, string>) =>
    service.handle({
      method,
      target: `/rest/v1/app${path}`,
      header: (name) => ({ 'x-api-key': key, ...headers })[name],
      secure: false,
      peer: undefined,
      signal: undefined,
      body: () => Promise.resolve(new TextEncoder().encode('{"id":"b"}')),
    })
}

test.each(storages)('on $name, a response that waits for nothing is not a promise', async (on) => {
  const ask = await open(on)
  // The first request of a key finds its caller, and notes its use later.
  await ask('GET', '/notes')
  const statusOf = (method: string, path: string, headers?: Record<string, string>) =>
    (ask(method, path, headers) as ServiceReply).status
  expect(statusOf('GET', '/notes')).toBe(200)
  expect(statusOf('GET', '/notes?$limit=1&$count=true&title=A')).toBe(200)
  expect(statusOf('GET', '/notes/a')).toBe(200)
  expect(statusOf('GET', '/notes/b')).toBe(404)
  expect(statusOf('GET', '/nowhere')).toBe(404)
  expect(statusOf('GET', '/notes', { 'x-api-key': '' })).toBe(401)
  expect(statusOf('GET', '/notes', { 'x-api-key': 'wrong' })).toBe(401)
  expect(statusOf('PUT', '/notes')).toBe(405)
  expect(statusOf('POST', '/notes', { 'content-length': '1' })).toBe(415)
})

test.each(storages)('on $name, writes and asynchronous handlers return promises', async (on) => {
  const ask = await open(on)
  const headers = { 'content-type': 'application/json', 'content-length': '10' }
  const written = ask('POST', '/notes', headers)
  const seen = ask('GET', '/watched')
  expect([written, seen]).toEqual([expect.any(Promise), expect.any(Promise)])
  expect([(await written).status, (await seen).status]).toEqual([200, 200])
})
