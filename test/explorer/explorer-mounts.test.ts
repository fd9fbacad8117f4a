import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, openPage, startBrowser } from '../kit/browser.ts'
import { mounts, prefix } from '../kit/mounts.ts'
import { openTrader } from './trader.ts'

describeInBrowser('the explorer below a prefix', () => {
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
