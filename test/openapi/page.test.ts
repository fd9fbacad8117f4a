import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  text,
  type Service,
} from '../../src/index.ts'
import { toFetchHandler } from '../../src/http/fetch.ts'
import { openapi, openApiDocument, type OpenApiDocument } from '../../src/openapi/openapi.ts'
import { apiKeys } from '../../src/security/index.ts'

const notes = defineCollection(
  {
    key: 'id',
    fields: { id: text(), owner: text(), secret: text({ readableBy: ['Office'], readOnly: true }) },
  },
  { rows: { equal: { owner: { attribute: 'desk' } }, exceptRoles: ['Office'] } },
)
const lists = defineCollection({ key: 'id', fields: { id: text() } })
const applications = { desk: { collections: { notes } }, other: { collections: { lists } } }

const options = { title: 'Desk' }
let service: Service<typeof applications>
const keys: Record<string, string> = {}

beforeAll(async () => {
  service = createService({
    applications,
    storage: memoryStorage(),
    security: apiKeys({ name: 'k', properties: { AllowInsecureHttp: true } }),
    pages: { openapi: openapi(options) },
  })
  const people = {
    olivia: { roles: ['Office'] },
    samuel: { attributes: { desk: 'a' } },
    maria: { attributes: { desk: 'b' } },
    nobody: {},
  }
  for (const [user, rights] of Object.entries(people)) {
    await service.users.add({ user, ...rights })
    keys[user] = (await service.keys.create({ user })).key
  }
})
afterAll(() => service.close())

function get(path: string, user: string, headers = {}): Promise<Response> {
  const handler = toFetchHandler(service, { prefix: '/api' })
  const sent = { 'X-API-Key': keys[user] ?? '', ...headers }
  return handler(new Request(`http://localhost/api/rest/v1/${path}`, { headers: sent }))
}
const documentOf = async (path: string, user: string) =>
  (await (await get(path, user)).json()) as OpenApiDocument

test('serves the document of the caller, with the path of the mount', async () => {
  const response = await get('openapi.json', 'olivia')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await response.json()).toEqual(
    JSON.parse(
      JSON.stringify(openApiDocument(service, { ...options, prefix: '/api', roles: ['Office'] })),
    ),
  )
  expect(JSON.stringify(await documentOf('openapi.json', 'samuel'))).not.toContain('secret')
})

test('rejects a caller without credentials', async () => {
  const handler = toFetchHandler(service)
  expect((await handler(new Request('http://localhost/rest/v1/openapi.yaml'))).status).toBe(401)
})

test('serves the same document as YAML', async () => {
  const response = await get('openapi.yaml', 'olivia')
  expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  expect(load(await response.text())).toEqual(await documentOf('openapi.json', 'olivia'))
})

test('serves a document of each application', async () => {
  const { paths } = await documentOf('openapi/other.json', 'olivia')
  expect(Object.keys(paths)).toEqual(['/other/lists', '/other/lists/{id}'])
  expect((await get('openapi/unknown.json', 'olivia')).status).toBe(404)
})

test('leaves out a collection whose row rule allows the caller no rows', async () => {
  const { paths } = await documentOf('openapi.json', 'nobody')
  expect(Object.keys(paths)).toEqual(['/other/lists', '/other/lists/{id}'])
})

test('callers with the same rights share a document, and others have one of their own', async () => {
  const tagOf = async (user: string) => (await get('openapi.json', user)).headers.get('etag')
  const tag = await tagOf('samuel')
  expect(await tagOf('maria')).toBe(tag)
  expect(await tagOf('olivia')).not.toBe(tag)
  const kept = await get('openapi.json', 'maria', { 'If-None-Match': tag })
  expect(kept.status).toBe(304)
  const other = await get('openapi.json', 'olivia', { 'If-None-Match': tag })
  expect(other.status).toBe(200)
})

test('rejects wrong options at start', () => {
  expect(() => openapi({ title: 1 as never })).toThrow('openapi.title: must be a string')
})
