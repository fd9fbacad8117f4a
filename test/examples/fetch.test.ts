import { expect, test } from 'vitest'
import worker from '../../examples/fetch.ts'
import { freePort, startExample } from '../kit/process.ts'

const note = { title: 'Milk', content: 'Two bottles' }
const insertion = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(note),
}

test('hono.ts serves a collection next to its own route', async () => {
  const example = startExample('hono.ts', { PORT: String(await freePort()) })
  const [address] = await example.printed(/http:\S+/)
  expect(await (await fetch(address, insertion)).json()).toMatchObject({ item: note })
  expect(await (await fetch(address)).json()).toMatchObject({ items: [note], status: 200 })
  const mine = await fetch(new URL('/api/hello', address))
  expect(await mine.text()).toBe('This route is mine.')
  expect((await fetch(new URL('/api/none', address))).status).toBe(404)
  await example.ended('SIGTERM')
})

test('fetch.ts responds to calls of its handler', async () => {
  const address = 'https://desk.example/rest/v1/desk/notes'
  const inserted = await worker.fetch(new Request(address, insertion))
  expect(await inserted.json()).toMatchObject({ item: note })
  // Workers pass bindings and a context after the request.
  const page = await worker.fetch(new Request(address), {}, { waitUntil: () => undefined })
  expect(await page.json()).toMatchObject({ items: [note], status: 200 })
  expect((await worker.fetch(new Request('https://desk.example/'))).status).toBe(404)
})
