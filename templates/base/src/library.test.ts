import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { memoryStorage } from 'rowgate'
import { createTestClient, type TestClient } from 'rowgate/testing'
import { createLibrary } from './library.ts'

const service = createLibrary(memoryStorage())
let client: TestClient

before(async () => {
  await service.users.add({ user: 'tester' })
  const { key } = await service.keys.create({ user: 'tester' })
  client = createTestClient(service, { key })
})
after(() => service.close())

test('a book is stored and read', async () => {
  const added = await client.post('/library/books', { title: 'Effi Briest', author: 'Fontane' })
  assert.equal(added.status, 200)
  const { body } = await client.get('/library/books', { query: { author: 'Fontane' } })
  assert.deepEqual(
    body.items?.map(({ title }) => title),
    ['Effi Briest'],
  )
})

test('a book needs a title', async () => {
  const { status, body } = await client.post('/library/books', { author: 'Fontane' })
  assert.equal(status, 400)
  assert.equal(body.validations[0]?.field, 'title')
})

test('a request without a key is rejected', async () => {
  const { status } = await createTestClient(service).get('/library/books')
  assert.equal(status, 401)
})
