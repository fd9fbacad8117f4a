import { afterAll, expect, test } from 'vitest'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { filesBelow, textOf } from '../project/tree.ts'
import { keyOf, keys, openDesk } from './desk.ts'

const service = openDesk(keys())
afterAll(() => service.close())

const handler = toFetchHandler(service)
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  handler(new Request(`http://localhost/rest/v1/${path}`, { headers }))

test('the page is public, and contains nothing of the definition', async () => {
  const response = await get('console')
  expect(response.status).toBe(200)
  expect(await response.text()).not.toMatch(/books|author|shelves/)
  const files = await Promise.all([get('console/console.js'), get('console/console.css')])
  for (const file of files) {
    expect(file.status).toBe(200)
    expect(await file.text()).not.toMatch(/shelves/)
  }
})

test('the document needs credentials, and shows what the caller may do', async () => {
  expect((await get('console/document.json')).status).toBe(401)
  const key = await keyOf(service)
  const response = await get('console/document.json', { 'X-API-Key': key })
  const { paths } = (await response.json()) as { readonly paths: object }
  expect(Object.keys(paths)).toContain('/desk/books')
  expect(Object.keys(paths)).not.toContain('/desk/secrets')
})

test('the page has no inline script or style, and allows none', async () => {
  const response = await get('console')
  expect(await response.text()).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/i)
  const policy = response.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
})

test('the browser code never writes HTML, and stores no more than a session', () => {
  const sources = [
    ...filesBelow('src/console/app', '.ts'),
    ...filesBelow('src/console/app', '.tsx'),
  ]
  const writers = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|\beval\(/
  expect(sources.filter((path) => writers.test(textOf(path)))).toEqual([])
  const storing = sources.filter((path) => /sessionStorage|document\.cookie/.test(textOf(path)))
  expect(storing).toEqual(['src/console/app/session.ts'])
})
