import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import type * as client from '../../src/entries/client.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  principal,
  text,
  warning,
} from '../../src/entries/index.ts'
import { serveDuringTest } from '../kit/server.ts'
import { describeInBrowser, openPage, startBrowser } from '../kit/browser.ts'
import { newKey, plainKeys } from '../kit/keys.ts'

const lines = defineCollection(
  {
    key: ['orderId', 'product'],
    cursor: true,
    pageSize: { maximum: 10 },
    fields: { orderId: integer(), product: text(), quantity: integer() },
  },
  {
    validations: [
      warning('large', {
        check: ({ quantity }) => ((quantity ?? 0) > 100 ? 'This is a large order.' : null),
      }),
    ],
  },
)

/** What runs in a page: the bundle, and what the page knows. */
interface Window {
  readonly rowgate: typeof client
}

type Program<Result> = (given: { readonly url: string; readonly key: string }) => Promise<Result>

describeInBrowser('the client in a browser', () => {
  let browser: Browser
  let script = ''

  beforeAll(async () => {
    browser = await startBrowser()
    const { outputFiles } = await build({
      entryPoints: [join(root, 'src/entries/client.ts')],
      bundle: true,
      minify: true,
      format: 'iife',
      globalName: 'rowgate',
      platform: 'browser',
      write: false,
    })
    script = outputFiles[0]?.text ?? ''
  })
  afterAll(() => browser.close())

  /** Opens a page with the client, on the server of a service, or beside it with CORS. */
  async function open(place: 'same origin' | 'another origin') {
    const service = createService({
      applications: { app: { collections: { lines } } },
      storage: memoryStorage(),
      security: plainKeys(),
    })
    onTestFinished(() => service.close())
    const { key } = await newKey(service)
    const inside = service.as(principal('maria')).collection('app', 'lines')
    const items = Array.from({ length: 25 }, (_, at) => ({ orderId: at, product: 'a' }))
    await inside.insertMany(items)
    const handler = toNodeHandler(service)
    const received: string[] = []
    const api = await serveDuringTest((request, response) => {
      received.push(`${String(request.method)} ${String(request.headers['x-api-key'])}`)
      if (place === 'another origin') {
        response.setHeader('Access-Control-Allow-Origin', '*')
        response.setHeader('Access-Control-Allow-Headers', '*')
        response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE')
      }
      if (request.url === '/') response.setHeader('Content-Type', 'text/html').end('<p>Page</p>')
      else if (request.method === 'OPTIONS') response.writeHead(204).end()
      else if (request.url?.startsWith('/moved') === true)
        response.writeHead(307, { Location: '/rest/v1/app/lines' }).end()
      else if (request.url?.startsWith('/slow') !== true) handler(request, response)
    })
    const shown = await serveDuringTest((_, response) => {
      response.setHeader('Content-Type', 'text/html').end('<p>Page</p>')
    })
    const { page } = await openPage(browser)
    onTestFinished(() => page.context().close())
    await page.goto(place === 'same origin' ? api : shown)
    await page.addScriptTag({ content: script })
    const url = place === 'same origin' ? '/' : api
    return { run: <Result>(program: Program<Result>) => run(page, program, { url, key }), received }
  }

  const places = ['same origin', 'another origin'] as const

  test.each(places)('reads, saves, confirms and deletes on %s', async (place) => {
    const { run } = await open(place)
    const seen = await run(async ({ url, key }) => {
      const { createClient, saved } = (globalThis as unknown as Window).rowgate
      const api = createClient<{ app: { collections: { lines: Lines } } }>({ url, key })
      const collection = api.collection('app', 'lines')
      const held = await collection.insert({ orderId: 1, product: 'ä/é', quantity: 101 })
      const stored = saved(await collection.confirm(held))
      const deleted = await collection.delete([1, 'ä/é'])
      const all = await collection.filter({ product: 'a' }, { fields: ['orderId'] })
      let read = 0
      for await (const { orderId } of collection.items()) read += orderId
      return {
        held,
        stored,
        deleted: deleted?.rejected,
        gone: (await collection.get([1, 'ä/é'])) === undefined,
        first: all.items[0],
        length: all.items.length,
        read,
      }
    })
    expect(seen).toMatchObject({
      held: { rejected: true, validations: [{ message: 'This is a large order.' }] },
      stored: { orderId: 1, product: 'ä/é', quantity: 101 },
      deleted: false,
      gone: true,
      first: { orderId: 0 },
      length: 25,
      read: 300,
    })
  })

  test.each(places)('every failure on %s is an error with its code', async (place) => {
    const { run, received } = await open(place)
    const seen = await run(async ({ url, key }) => {
      const { attempt, createClient } = (globalThis as unknown as Window).rowgate
      const codeOf = async (options: client.ClientOptions) => {
        const result = await attempt(createClient(options).collection('app', 'lines').exists())
        return result.ok ? 'no error' : 'code' in result.error ? result.error.code : ''
      }
      const base = url.replace(/\/$/, '')
      return {
        unknownKey: await codeOf({ url, key: 'wrong' }),
        moved: await codeOf({ url: `${base}/moved`, key }),
        // Long enough for the preflight request on a busy machine.
        slow: await codeOf({ url: `${base}/slow`, key, timeout: 2_000 }),
        away: await codeOf({ url: 'http://127.0.0.1:9', key }),
        aborted: await codeOf({ url, key, signal: AbortSignal.abort() }),
      }
    })
    expect(seen).toEqual({
      unknownKey: 'STATUS',
      moved: 'REDIRECT',
      slow: 'TIMEOUT',
      away: 'CONNECTION_FAILED',
      aborted: 'ABORTED',
    })
    // The page itself and its icon are requested without a key.
    expect(received.filter((line) => /^GET (?!undefined)/.test(line))).toHaveLength(3)
  })
})

type Lines = typeof lines

function run<Result>(
  page: Page,
  program: Program<Result>,
  given: Parameters<Program<Result>>[0],
): Promise<Result> {
  return page.evaluate(program as never, given as never)
}
