import { createServer } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import type { RequestHandler } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { missingBrowser, openPage, startBrowser } from '../kit/browser.ts'
import type { Host } from '../kit/cells.ts'
import { listen } from '../kit/fastify-app.ts'
import { nodeApp, startApp } from '../kit/hono-app.ts'
import { openServer } from '../kit/server.ts'
import { enterKey, fill, keyOf, keys, onScreen, openDesk } from './desk.ts'

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

describe.skipIf(missingBrowser() !== undefined)('the console below a prefix', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test.each(Object.entries(mounts))('signs in, lists and saves in %s', async (_name, start) => {
    const service = openDesk(keys())
    await fill(service)
    const key = await keyOf(service)
    const { port, close } = await start(service)
    const { page, problems, origins } = await openPage(browser)
    const root = `http://127.0.0.1:${port}`
    try {
      // Redirected to the page, below which its files are.
      await page.goto(`${root}${prefix}/rest/v1/console/#/item/desk/books/1`)
      expect(new URL(page.url()).pathname).toBe(`${prefix}/rest/v1/console`)
      await enterKey(page, key)
      await onScreen(page, '1 · Effi Briest')
      await page.getByLabel('pages').fill('355')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('status').getByText('Saved.').waitFor()
      await page.getByRole('link', { name: 'desk / books' }).click()
      await page.getByRole('cell', { name: '355' }).waitFor()
      expect([...origins]).toEqual([root])
      expect(problems).toEqual([])
    } finally {
      await page.context().close()
      await close()
      await service.close()
    }
  })
})
