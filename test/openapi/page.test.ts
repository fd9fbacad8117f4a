import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
  type Service,
} from '../../src/entries/index.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import {
  openapi,
  openApiDocument,
  toYaml,
  type OpenApiDocument,
} from '../../src/entries/openapi.ts'
import { apiKeys } from '../../src/entries/security.ts'

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

test('a document leaves out a collection whose row rule allows the caller no rows', async () => {
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

test.each(['', '/api', '/a/b', "/it's", '/x=1', '/~me', '/yes', '/1e3'])(
  'below the mount %j a document equals openApiDocument, byte for byte',
  async (prefix) => {
    const handler = toFetchHandler(service, { prefix })
    for (const application of [undefined, 'desk', 'other']) {
      const named = application === undefined ? {} : { application }
      const document = openApiDocument(service, { ...options, ...named, prefix, roles: ['Office'] })
      for (const [ending, text] of [
        ['.json', JSON.stringify(document)],
        ['.yaml', toYaml(document)],
      ] as const) {
        const path = `${application === undefined ? '' : `/${application}`}${ending}`
        const url = `http://localhost${prefix}/rest/v1/openapi${path}`
        const headers = { 'X-API-Key': keys['olivia'] ?? '' }
        const response = await handler(new Request(url, { headers }))
        expect(await response.text()).toBe(text)
      }
    }
  },
)

test('a document is computed once for all mounts, even if clients choose their paths', async () => {
  const fields = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, text()]))
  const collections = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [
      `c${at}`,
      defineCollection({ key: 'id', fields: { id: text(), ...fields } }),
    ]),
  )
  const large = createService({
    applications: { desk: { collections } },
    storage: memoryStorage(),
    security: openAccess(),
    pages: { openapi: openapi(options) },
  })
  const measure = async (prefix: string, ending: string): Promise<number> => {
    const begun = performance.now()
    const reply = await large.handle({
      method: 'GET',
      target: `/rest/v1/openapi${ending}`,
      prefix,
      header: () => undefined,
      secure: true,
      peer: undefined,
      signal: undefined,
      body: async () => new Uint8Array(),
    })
    expect(reply.body).toContain(`${prefix}/rest/v1`)
    return performance.now() - begun
  }
  for (const ending of ['.json', '.yaml']) {
    const first = await measure('/first', ending)
    let others = 0
    for (let mount = 0; mount < 60; mount++) others += await measure(`/tenant-${mount}`, ending)
    expect(others / 60).toBeLessThan(first / 4)
  }
  await large.close()
})

test('rejects wrong options at start', () => {
  expect(() => openapi({ title: 1 as never })).toThrow('openapi.title: must be a string')
})
