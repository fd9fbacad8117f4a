import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  memoryStorage,
  text,
  type Page,
  type Service,
} from '../../src/entries/index.ts'
import { pageSource, type PageFile } from '../../src/pages/page.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { bindings, type Host } from '../kit/cells.ts'
import { converse, rawRequest } from '../kit/http-client.ts'

const notes = defineCollection({ key: 'id', fields: { id: text() } })
const applications = { app: { collections: { notes } } }
const styles = { mediaType: 'text/css; charset=utf-8', text: 'p { content: "é" }' }
const longStyles = { mediaType: 'text/css; charset=utf-8', text: styles.text.repeat(100) }

const pageOf = (files: Readonly<Record<string, PageFile>>): Page => ({
  [pageSource]: { open: () => files },
})
const stylesheet: PageFile = { access: 'public', content: async () => styles }
const help = pageOf({
  '': {
    access: 'public',
    content: ({ prefix }) => ({
      mediaType: 'text/html; charset=utf-8',
      text: `<p>${prefix}`,
      headers: { 'Content-Security-Policy': "default-src 'none'" },
    }),
  },
  '/style.css': stylesheet,
  '/long.css': { access: 'public', content: () => longStyles },
  '.json': {
    access: 'caller',
    content: (_request, { user }) => ({
      mediaType: 'application/json',
      text: JSON.stringify({ user, large: 'x'.repeat(user === 'maria' ? 0 : 2_000_000) }),
    }),
  },
})

const keys: string[] = []
let service: Service<typeof applications>

beforeAll(async () => {
  service = createService({
    applications,
    storage: memoryStorage(),
    security: apiKeys({ name: 'k', properties: { AllowInsecureHttp: true } }),
    pages: { help },
  })
  for (const user of ['maria', 'jonas']) {
    await service.users.add({ user })
    keys.push((await service.keys.create({ user })).key)
  }
})

afterAll(() => service.close())

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

function get(
  port: number,
  agent: Agent,
  { method = 'GET', path = '', headers = {} },
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, method, path: `/rest/v1/${path}`, headers }
    request(options, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      incoming.on('end', () => {
        const { statusCode = 0, headers: received } = incoming
        resolve({ status: statusCode, headers: received, text: Buffer.concat(chunks).toString() })
      })
    })
      .on('error', reject)
      .end()
  })
}

describe.each(bindings)('a page through $name', ({ start }) => {
  const agent = new Agent({ keepAlive: true })
  let host: Host
  const ask = (path: string, rest: object = {}) => get(host.port, agent, { path, ...rest })

  beforeAll(async () => {
    host = await start(service)
  })
  afterAll(async () => {
    agent.destroy()
    await host.close()
  })

  test('serves a public file to every caller', async () => {
    const answer = await ask('help/style.css?v=1')
    expect(answer).toMatchObject({ status: 200, text: styles.text })
    expect(answer.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'content-length': String(Buffer.byteLength(styles.text)),
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-svc-version': '4.54',
    })
    const page = await ask('help')
    expect(page).toMatchObject({ status: 200, text: '<p>' })
    expect(page.headers['content-security-policy']).toBe("default-src 'none'")
  })

  test('redirects from an address with a slash at its end', async () => {
    for (const [path, location] of [
      ['help/', '../help'],
      ['help/?lang=en', '../help?lang=en'],
      ['help/style.css/', '../style.css'],
      ['help.json/', '../help.json'],
    ]) {
      const answer = await ask(path as string)
      expect(answer).toMatchObject({ status: 308, text: '' })
      expect(answer.headers).toMatchObject({
        location,
        'cache-control': 'no-cache',
        'content-length': '0',
        'x-svc-version': '4.54',
      })
      expect(answer.headers).not.toHaveProperty('content-type')
    }
    expect((await ask('help/', { method: 'POST' })).status).toBe(405)
  })

  test('serves a file of callers with their credentials only', async () => {
    const rejected = await ask('help.json')
    expect(rejected.status).toBe(401)
    expect(rejected.headers['www-authenticate']).toMatch(/ApiKey/)
    expect(JSON.parse(rejected.text)).toMatchObject({ status: 401, validations: [] })
    const [maria, jonas] = keys.map((key) => ({ 'X-API-Key': key }))
    const answer = await ask('help.json', { headers: maria })
    expect(answer).toMatchObject({ status: 200, text: '{"user":"maria","large":""}' })
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    const large = await ask('help.json', { headers: jonas })
    expect(large.headers['content-length']).toBe(String(large.text.length))
    expect(JSON.parse(large.text)).toMatchObject({ user: 'jonas' })
  })

  test('responds 304 without a body if the client has the file', async () => {
    const { headers } = await ask('help/style.css')
    const tag = String(headers['etag'])
    for (const value of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const answer = await ask('help/style.css', { headers: { 'If-None-Match': value } })
      expect(answer).toMatchObject({ status: 304, text: '' })
      expect(answer.headers['content-length']).toBeUndefined()
      expect(answer.headers['etag']).toBe(tag)
    }
    const changed = await ask('help/style.css', { headers: { 'If-None-Match': '"x"' } })
    expect(changed.status).toBe(200)
  })

  test('compresses long text for clients that accept gzip', async () => {
    const url = `http://127.0.0.1:${host.port}/rest/v1/help/long.css`
    const answer = await fetch(url, { headers: { 'Accept-Encoding': 'br, gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect(Number(answer.headers.get('content-length'))).toBeLessThan(200)
    expect(await answer.text()).toBe(longStyles.text)
    const tag = answer.headers.get('etag') ?? ''
    expect((await fetch(url, { headers: { 'If-None-Match': tag } })).status).toBe(304)
    for (const accepted of ['identity', 'br, gzip;q=0', '*;q=0']) {
      const plain = await fetch(url, { headers: { 'Accept-Encoding': accepted } })
      expect([accepted, plain.headers.get('content-encoding')]).toEqual([accepted, null])
      expect(await plain.text()).toBe(longStyles.text)
    }
    const short = await fetch(url.replace('long', 'style'))
    expect(short.headers.get('content-encoding')).toBe(null)
  })

  test('responds to HEAD with the headers of GET', async () => {
    const line = 'HEAD /rest/v1/help/style.css'
    const [head = '', body] = (await converse(host.port, rawRequest(line))).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 200 /)
    expect(head.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(styles.text)}`)
    expect(body).toBe('')
  })

  test('responds 405 to other methods, and 404 for other files', async () => {
    const answer = await ask('help.json', { method: 'POST' })
    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe('GET, HEAD')
    for (const path of [
      'help.yaml',
      'help//',
      'help/other/',
      'help//style.css',
      'helps',
      'helps/',
    ]) {
      const { status, text: body } = await ask(path)
      expect([path, status, JSON.parse(body)]).toEqual([
        path,
        404,
        { message: 'Not found.', validations: [], status: 404 },
      ])
    }
  })

  test('leaves the paths of applications as they are', async () => {
    const { status } = await ask('app/notes', { headers: { 'X-API-Key': keys[0] } })
    expect(status).toBe(200)
  })
})
