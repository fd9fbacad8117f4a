import { createServer } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import { missingBrowser, openPage, startBrowser } from '../kit/browser.ts'
import type { Host } from '../kit/cells.ts'
import { listen } from '../kit/fastify-app.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'
import { openServer } from '../kit/server.ts'
import { openTrader } from './trader.ts'

const prefix = '/shop/api'

/** Ways to put a service on a socket, below a prefix. */
const mounts: Readonly<Record<string, (service: RequestHandler) => Promise<Host>>> = {
  'node:http': (service) => openServer(createServer(toNodeHandler(service, { prefix }))),
  Express: (service) => openServer(createServer(express().use(prefix, toExpressHandler(service)))),
  Fastify: async (service) => {
    const app = fastify()
    await app.register(rowgateFastify, { service, prefix, closeService: false })
    return listen(app)
  },
  Hono: (service) => {
    const rest = toFetchHandler(service, { prefix })
    return startApp(nodeApp().all(`${prefix}/*`, (c) => rest(c.req.raw, c.env)))
  },
}

describe.skipIf(missingBrowser() !== undefined)('the explorer below a prefix', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test.each(Object.entries(mounts))('sends requests to the service in %s', async (_name, start) => {
    const service = openTrader()
    const { port, close } = await start(service)
    const { page, problems } = await openPage(browser)
    try {
      // Redirected to the page, below which its files are.
      await page.goto(`http://127.0.0.1:${port}${prefix}/rest/v1/explorer/`)
      expect(new URL(page.url()).pathname).toBe(`${prefix}/rest/v1/explorer`)
      await page.getByRole('button', { name: 'List customers' }).click()
      const [response] = await Promise.all([
        page.waitForResponse(/sales\/customers/),
        page.getByRole('button', { name: 'Execute' }).click(),
      ])
      expect(new URL(response.url()).pathname).toBe(`${prefix}/rest/v1/sales/customers`)
      expect(response.status()).toBe(200)
      expect(problems).toEqual([])
    } finally {
      await page.context().close()
      await close()
      await service.close()
    }
  })
})
