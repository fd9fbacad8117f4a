import { expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  text,
  type RequestTrace,
} from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'

const notes = defineCollection({ key: 'name', fields: { name: text() } })

test.each([
  ['where it is looked for', true],
  ['where nobody looks for it', false],
])('a key in the query is in no log, %s', async (_, AllowApiKeyInQueryString) => {
  const entries: Readonly<RequestTrace>[] = []
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: apiKeys({ name: 'API Key', properties: { AllowApiKeyInQueryString } }),
    log: (entry) => entries.push(entry),
  })
  await service.users.add({ user: 'maria' })
  const { key } = await service.keys.create({ user: 'maria' })
  const query = `name=a&apiKey=${key}&%61piKey=${key}`
  await createTestClient(service).get('/desk/notes', { query })
  expect(entries.map((entry) => entry.query)).toEqual(['name=a&apiKey=***&%61piKey=***'])
  expect(JSON.stringify(entries)).not.toContain(key)
})
