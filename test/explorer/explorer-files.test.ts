import { afterAll, expect, test } from 'vitest'
import { explorer } from '../../src/entries/explorer.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { createService, memoryStorage, openAccess } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { textOf } from '../project/tree.ts'
import { openTrader } from './trader.ts'

const service = openTrader(apiKeys({ name: 'keys' }))
afterAll(() => service.close())

const handler = toFetchHandler(service)
const get = (path: string) => handler(new Request(`http://localhost/rest/v1/${path}`))

test('the page is public, and contains nothing of the definition', async () => {
  const response = await get('explorer')
  expect(response.status).toBe(200)
  const page = await response.text()
  expect(page).toContain('openapi.json')
  expect(page).not.toMatch(/trader|sales|customers/i)
  expect((await get('openapi.json')).status).toBe(401)
})

test('the page has no inline script or style, and allows none', async () => {
  const response = await get('explorer')
  const page = await response.text()
  expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/i)
  const policy = response.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
})

test('every file that the page names is served, and the files of Swagger UI are cached', async () => {
  const page = await (await get('explorer')).text()
  const files = [...page.matchAll(/(?:src|href)="(explorer\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(files).toHaveLength(4)
  for (const path of files) {
    const response = await get(path)
    expect([path, response.status]).toEqual([path, 200])
    expect(response.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
    const isKept = path.includes('swagger-ui')
    expect(response.headers.get('cache-control')?.includes('immutable')).toBe(isKept)
    expect((await response.text()).length).toBeGreaterThan(1000)
  }
})

test('the paths of the files of Swagger UI have the version that is installed', async () => {
  const { devDependencies } = JSON.parse(textOf('package.json')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const version = devDependencies['swagger-ui-dist'] ?? ''
  expect(await (await get('explorer')).text()).toContain(`explorer/swagger-ui-${version}.js`)
})

test('a document that is not a page of the service is a mistake', () => {
  const create = () =>
    createService({
      applications: {},
      storage: memoryStorage(),
      security: openAccess(),
      pages: { explorer: explorer({ document: 'openapi' }) },
    })
  expect(create).toThrow(
    'options.pages.explorer: document must be the name of a page of the service: openapi',
  )
})
