import { createServer } from 'node:http'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { toNodeHandler } from '../../src/entries/node.ts'
import { principal } from '../../src/entries/index.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import {
  keepScreenshot,
  describeInBrowser,
  openPage,
  startBrowser,
  type WatchedPage,
} from '../kit/browser.ts'
import { openServer } from '../kit/server.ts'
import { openTrader, type Trader } from './trader.ts'

const keys = () => apiKeys({ name: 'keys', priority: 1, properties: { AllowInsecureHttp: true } })
const passwords = () => httpBasic({ name: 'passwords', priority: 2, allowInsecureHttp: true })

const phone = { viewport: { width: 400, height: 800 } }

describeInBrowser('the explorer in a browser', () => {
  const ends: (() => Promise<unknown>)[] = []
  let browser: Browser

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  afterAll(() => browser.close())

  /** Opens the explorer of a service. A problem that the test does not expect fails it. */
  async function open(service: Trader, options?: BrowserContextOptions): Promise<WatchedPage> {
    const { url, close } = await openServer(createServer(toNodeHandler(service)))
    const watched = await openPage(browser, options)
    ends.push(
      () => service.close(),
      close,
      () => watched.page.context().close(),
      async () => {
        expect(watched.problems).toEqual([])
        expect([...watched.origins]).toEqual([url])
      },
    )
    await watched.page.goto(`${url}/rest/v1/explorer`)
    return watched
  }

  /** Opens the explorer of a service with keys, and signs in. */
  async function openSignedIn(
    options?: BrowserContextOptions,
  ): Promise<WatchedPage & { readonly service: Trader; readonly key: string }> {
    const service = openTrader(keys())
    const key = await keyOf(service)
    const watched = await open(service, options)
    await watched.page.getByLabel('API key').fill(key)
    await watched.page.keyboard.press('Enter')
    await watched.page.getByText('Customers of a trader.').waitFor()
    return { ...watched, service, key }
  }

  test('shows the service without a form if access is open', async () => {
    const { page } = await open(openTrader())
    await page.getByText('Customers of a trader.').waitFor()
    expect(await page.title()).toBe('Trader')
    expect(await page.getByRole('button', { name: /sign/i }).count()).toBe(0)
    await keepScreenshot(page, 'explorer-open')
  })

  test('requests a list with the key that was entered', async () => {
    const { page, service } = await openSignedIn()
    await insertCustomer(service, 'BLAUS')
    await keepScreenshot(page, 'explorer-signed-in')
    await openOperation(page, 'List customers')
    await page.getByRole('button', { name: 'Execute' }).click()
    await response(page).getByText('"BLAUS"').waitFor()
    expect(await response(page).innerText()).toContain('200')
    await response(page).scrollIntoViewIfNeeded()
    await keepScreenshot(page, 'explorer-list')
  })

  test('sends no optional parameter that was not filled in', async () => {
    const { page } = await openSignedIn()
    await openOperation(page, 'List customers')
    const [request] = await Promise.all([
      page.waitForRequest(/sales\/customers/),
      page.getByRole('button', { name: 'Execute' }).click(),
    ])
    expect(new URL(request.url()).search).toBe('')
  })

  test('keeps the key when it is loaded again, until the user signs out', async () => {
    const { page, key } = await openSignedIn()
    await page.reload()
    await page.getByText('Customers of a trader.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await stored(page)).not.toContain(key)
    expect(await page.getByText('Customers of a trader.').count()).toBe(0)
  })

  test('keeps the key in its tab only', async () => {
    const { page, key } = await openSignedIn()
    expect(await stored(page)).toContain(key)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByLabel('API key').waitFor()
    expect(await stored(other)).not.toContain(key)
  })

  test('shows the message for a key that is not valid', async () => {
    const { page, problems } = await open(openTrader(keys()))
    await page.getByLabel('API key').fill('not a key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Valid credentials are required.').waitFor()
    expect(await hasFocus(page.getByLabel('API key'))).toBe(true)
    expectRejected(problems, 401)
    await keepScreenshot(page, 'explorer-rejected-key')
  })

  test('shows a response 401 for a key that was revoked meanwhile', async () => {
    const { page, service, problems } = await openSignedIn()
    const [listed] = await service.keys.list()
    await service.keys.revoke(listed?.keyId ?? '')
    await openOperation(page, 'List customers')
    await page.getByRole('button', { name: 'Execute' }).click()
    await response(page).getByText('Valid credentials are required.').waitFor()
    expectRejected(problems, 401)
  })

  test('accepts a user and a password, and opens no dialog of the browser', async () => {
    const service = openTrader([keys(), passwords()])
    await service.users.add({ user: 'maria', password: 'ein langes Päßwort' })
    const { page, problems } = await open(service)
    await page.getByLabel('User and password').check()
    expect(await page.getByLabel('API key', { exact: true }).last().isVisible()).toBe(false)
    await keepScreenshot(page, 'explorer-methods')
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Valid credentials are required.').waitFor()
    expectRejected(problems, 401)
    await page.getByLabel('Password', { exact: true }).fill('ein langes Päßwort')
    await page.keyboard.press('Enter')
    await page.getByText('Customers of a trader.').waitFor()
  })

  test('repeats an insert after its warning was confirmed', async () => {
    const { page, problems, service } = await openSignedIn()
    await openOperation(page, 'Insert an item of customers')
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.getByRole('dialog').getByText('A discount above 20 % is unusual.').waitFor()
    expectRejected(problems, 400)
    expect(await customersOf(service)).toEqual([])
    await keepScreenshot(page, 'explorer-warning')
    await page.getByRole('button', { name: 'Confirm and repeat' }).click()
    await response(page).getByText('200').first().waitFor()
    expect(await customersOf(service)).toEqual(['ALFKI'])
    expect(await page.locator('.curl').innerText()).toContain('X-Svc-Ignore-Warnings')
    await response(page).scrollIntoViewIfNeeded()
    await keepScreenshot(page, 'explorer-confirmed')
  })

  test('confirms warnings for one request only', async () => {
    const { page, problems } = await openSignedIn()
    await openOperation(page, 'Insert an item of customers')
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.getByRole('button', { name: 'Confirm and repeat' }).click()
    await response(page).getByText('200').first().waitFor()
    const header = page.getByRole('textbox', { name: 'X-Svc-Ignore-Warnings' })
    await expect.poll(() => header.inputValue()).toBe('')
    expectRejected(problems, 400)
  })

  test('changes nothing if a warning is not confirmed', async () => {
    const { page, problems, service } = await openSignedIn()
    await openOperation(page, 'Insert an item of customers')
    for (const dismiss of [
      () => page.getByRole('button', { name: 'Cancel' }).last().click(),
      () => page.keyboard.press('Escape'),
    ]) {
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.getByRole('dialog').waitFor()
      await dismiss()
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expectRejected(problems, 400)
    }
    expect(await response(page).innerText()).toContain('The changes need confirmation.')
    expect(await customersOf(service)).toEqual([])
  })

  test('can be used with the keyboard only', async () => {
    const service = openTrader(keys())
    const key = await keyOf(service)
    const { page, problems } = await open(service)
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.getByText('Customers of a trader.').waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Insert an item of customers' }))
    await page.keyboard.press('Enter')
    await rendered(page, 'Insert an item of customers')
    await tabTo(page, page.getByRole('button', { name: 'Execute' }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Confirm and repeat' }))
    await page.keyboard.press('Enter')
    await response(page).getByText('200').first().waitFor()
    expect(await customersOf(service)).toEqual(['ALFKI'])
    expectRejected(problems, 400)
  })

  test('gives every control a name', async () => {
    const { page } = await openSignedIn()
    await openOperation(page, 'List customers')
    await openOperation(page, 'Insert an item of customers')
    const names = await controlsOf(page)
    expect(names.filter((line) => !line.includes('"'))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['textbox "$limit"', 'listbox "$sort"']))
    expect(names).toEqual(expect.arrayContaining(['combobox "Example"']))
  })

  test('follows the color scheme of the system', async () => {
    const { page } = await openSignedIn({ colorScheme: 'dark' })
    await openOperation(page, 'Insert an item of customers')
    expect(await page.locator('html.dark-mode').count()).toBe(1)
    expect(await brightness(page)).toBeLessThan(60)
    await keepScreenshot(page, 'explorer-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(() => page.locator('html.dark-mode').count()).toBe(0)
    expect(await brightness(page)).toBeGreaterThan(240)
  })

  test('is not wider than a phone', async () => {
    const { page, problems } = await openSignedIn(phone)
    expect(await overflow(page)).toBe(0)
    await openOperation(page, 'List customers')
    await page.getByRole('button', { name: 'Execute' }).click()
    await response(page).waitFor()
    expect(await overflow(page)).toBe(0)
    await response(page).scrollIntoViewIfNeeded()
    await keepScreenshot(page, 'explorer-narrow-list')
    await openOperation(page, 'Insert an item of customers')
    await page.getByRole('button', { name: 'Execute' }).last().click()
    await page.getByRole('dialog').waitFor()
    expect(await overflow(page)).toBe(0)
    await keepScreenshot(page, 'explorer-narrow-warning')
    await page.getByRole('button', { name: 'Confirm and repeat' }).click()
    await expect.poll(() => response(page).count()).toBe(2)
    expect(await overflow(page)).toBe(0)
    expectRejected(problems, 400)
  })
})

async function keyOf(service: Trader): Promise<string> {
  await service.users.add({ user: 'maria' })
  return (await service.keys.create({ user: 'maria' })).key
}

async function insertCustomer(service: Trader, customerId: string): Promise<void> {
  await customers(service).insert({ customerId, companyName: 'Blauer See' })
}

async function customersOf(service: Trader): Promise<readonly unknown[]> {
  const { items } = await customers(service).filter({})
  return items.map(({ customerId }) => customerId)
}

function customers(service: Trader) {
  return service.as(principal('test')).collection('sales', 'customers')
}

async function openOperation(page: Page, summary: string): Promise<void> {
  await page.getByRole('button', { name: summary }).click()
  await rendered(page, summary)
}

/** Waits until Swagger UI has rendered an operation that was opened. */
async function rendered(page: Page, summary: string): Promise<void> {
  const operation = page.locator('.opblock.is-open', { hasText: summary })
  await operation.getByRole('button', { name: 'Execute' }).waitFor()
  await operation.locator('.opblock-loading-animation').waitFor({ state: 'hidden' })
}

/** The response of the service, as opposed to those of the description. */
function response(page: Page): Locator {
  return page.locator('.live-responses-table .response')
}

/** Removes the message with which Chromium reports a response with this status, which has to be there. */
function expectRejected(problems: string[], status: number): void {
  expect(problems.splice(0)).toEqual([expect.stringContaining(`status of ${status}`)])
}

function stored(page: Page): Promise<string> {
  return page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
}

/** Returns the controls of a page with their accessible names, such as `textbox "$limit"`. */
async function controlsOf(page: Page): Promise<readonly string[]> {
  const snapshot = await page.locator('body').ariaSnapshot()
  const controls = /^ *- '?((?:textbox|combobox|listbox|button|radio|checkbox)(?: "[^"]*")?)/gm
  return Array.from(snapshot.matchAll(controls), ([, control = '']) => control)
}

async function hasFocus(element: Locator): Promise<boolean> {
  return (await element.and(element.page().locator(':focus')).count()) === 1
}

/** Moves the focus to an element with the Tab key. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The Tab key does not lead to ${String(target)}.`)
}

/** Returns by how many pixels the page is wider than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth')
}

/** Returns the brightness of the background, from 0 to 255. */
async function brightness(page: Page): Promise<number> {
  const color = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const parts = color.match(/\d+/g)?.slice(0, 3).map(Number) ?? []
  return parts.reduce((sum, part) => sum + part, 0) / 3
}
