import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingBrowser, openPage, startBrowser } from '../kit/browser.ts'
import { mounts, prefix } from '../kit/mounts.ts'
import { enterPassword, openOffice } from './office.ts'
import { enterKey, fill, keyOf, keys, onScreen, openDesk } from './desk.ts'

const screens = [
  ...['users', 'users/new?new=1', 'users/ada', 'keys', 'keys/new', 'revoked-keys', 'audit'],
  ...['releases', 'releases/new', 'outbox', 'service', 'service/problems', 'data/shop/orders'],
]

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

  test.each(Object.entries(mounts))(
    'shows every part for administrators in %s',
    async (_, start) => {
      const { service, order } = await openOffice()
      await order('A7')
      const { port, close } = await start(service)
      const { page, problems, origins } = await openPage(browser)
      const root = `http://127.0.0.1:${port}`
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
    },
  )
})
