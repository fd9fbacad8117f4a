import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestHandler } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { describeInBrowser, openPage, startBrowser } from '../kit/browser.ts'
import type { Host } from '../kit/cells.ts'
import { mounts, prefix } from '../kit/mounts.ts'
import { makeCertificate } from '../kit/tls.ts'
import { enterPassword, openOffice } from './office.ts'
import { enterKey, fill, keyOf, keys, onScreen, openDesk } from './desk.ts'

const screens = [
  ...['users', 'users/new?new=1', 'users/ada', 'keys', 'keys/new', 'revoked-keys', 'audit'],
  ...['releases', 'releases/new', 'outbox', 'service', 'service/problems', 'data/shop/orders'],
]

/** Starts a server of HTTP/2, which browsers use over TLS only. */
async function startHttp2(service: RequestHandler) {
  const { private: key, cert } = await makeCertificate()
  const sessions = new Set<ServerHttp2Session>()
  const server = createSecureServer({ key, cert }, toNodeHandler(service, { prefix }))
  server.on('session', (session) => sessions.add(session))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const session of sessions) session.destroy()
    })
  return { port: (server.address() as AddressInfo).port, close, scheme: 'https' }
}

const everyMount: [string, (service: RequestHandler) => Promise<Host & { scheme?: string }>][] = [
  ...Object.entries(mounts),
  ['HTTP/2', startHttp2],
]

describeInBrowser('the console below a prefix', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test.each(everyMount)('signs in, lists and saves in %s', async (name, start) => {
    const service = openDesk(keys())
    await fill(service)
    const key = await keyOf(service)
    const { port, close, scheme = 'http' } = await start(service)
    const { page, problems, origins } = await openPage(browser, { ignoreHTTPSErrors: true })
    const root = `${scheme}://127.0.0.1:${port}`
    try {
      // Redirected to the page, below which its files are.
      await page.goto(`${root}${prefix}/rest/v1/console/#/item/desk/books/1`)
      expect(new URL(page.url()).pathname).toBe(`${prefix}/rest/v1/console`)
      expect(await protocolOf(page)).toBe(name === 'HTTP/2' ? 'h2' : 'http/1.1')
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

  test.each(everyMount)('shows every part for administrators in %s', async (_, start) => {
    const { service, order } = await openOffice()
    await order('A7')
    const { port, close, scheme = 'http' } = await start(service)
    const { page, problems, origins } = await openPage(browser, { ignoreHTTPSErrors: true })
    const root = `${scheme}://127.0.0.1:${port}`
    try {
      await page.goto(`${root}${prefix}/rest/v1/console`)
      await enterPassword(page, 'ada', 'a long password')
      for (const screen of screens) {
        await page.goto(`${root}${prefix}/rest/v1/console#/${screen}`)
        await page.locator('table, form, .empty, .charts').first().waitFor()
        expect([screen, await page.getByRole('alert').allInnerTexts()]).toEqual([screen, []])
      }
      expect([...origins]).toEqual([root])
      expect(problems).toEqual([])
    } finally {
      await page.context().close()
      await close()
      await service.close()
    }
  })
})

/** Returns the protocol with which the page was loaded. */
function protocolOf(page: Page): Promise<string> {
  return page.evaluate(`performance.getEntriesByType('navigation')[0].nextHopProtocol`)
}
