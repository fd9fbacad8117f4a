import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { keepScreenshot } from '../kit/browser.ts'
import {
  describeConsole,
  enterKey,
  fill,
  keyOf,
  keys,
  onScreen,
  openDesk,
  takeRejections,
  type Desk,
  type OpenPage,
} from './desk.ts'
import { violations } from './violations.ts'

const first = '#/item/desk/books/1'
const books = (service: Desk) => service.as(principal('test')).collection('desk', 'books')
const saved = (page: Page) => page.getByRole('status').getByText('Saved.').waitFor()
const hasFocus = async (page: Page, name: string) =>
  (await page.getByLabel(name, { exact: true }).and(page.locator(':focus')).count()) === 1

async function openBook(open: OpenPage, hash = first) {
  const service = openDesk()
  await fill(service)
  const opened = await open(service, { hash })
  await opened.page.getByLabel('Title', { exact: true }).waitFor()
  return { ...opened, service }
}

describeConsole('the form of an item', (open) => {
  test('sends only what has changed, with the version that was read', async () => {
    const { page, service } = await openBook(open)
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    await page.getByLabel('published').fill('1895-10-01')
    await page.getByLabel('changed').fill('2026-03-01T10:00')
    await page.getByLabel('In print').selectOption('no')
    await page.getByLabel('extra').fill('{"large": 12345678901234567890}')
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST'),
      page.getByRole('button', { name: 'Save' }).click(),
    ])
    expect(request.postData()).toBe(
      '{"title":"Effi","published":"1895-10-01","changed":"2026-03-01T10:00:00Z","inPrint":false,"extra":{"large":12345678901234567890}}',
    )
    expect(await request.headerValue('if-match')).toMatch(/^"/)
    await saved(page)
    await onScreen(page, '1 · Effi')
    expect(await books(service).get(1)).toMatchObject({ title: 'Effi', inPrint: false })
    expect(await page.getByLabel('extra').inputValue()).toContain('12345678901234567890')
  })

  test('shows by its look, also below the mouse, that there is nothing to save', async () => {
    const { page } = await openBook(open)
    const save = page.getByRole('button', { name: 'Save' })
    const look = () =>
      page.evaluate<string>(
        `(({ color, backgroundColor }) => color + backgroundColor)(getComputedStyle(document.querySelector('.bar .primary')))`,
      )
    expect(await save.isDisabled()).toBe(true)
    const disabled = await look()
    await save.hover({ force: true })
    expect(await look()).toBe(disabled)
    await page.getByLabel('Pages').fill('355')
    expect(await look()).not.toBe(disabled)
  })

  test('links an error to its field, and moves the focus there', async () => {
    const { page, problems } = await openBook(open)
    await page.getByLabel('Price').fill('-1')
    await page.getByLabel('pages').fill('many')
    await page.keyboard.press('Enter')
    await page.getByText(/^Pages must be an integer/).waitFor()
    takeRejections(problems, 400)
    await expect.poll(() => hasFocus(page, 'Price')).toBe(true)
    const price = page.getByLabel('Price')
    expect(await price.getAttribute('aria-invalid')).toBe('true')
    const described = (await price.getAttribute('aria-describedby'))?.split(' ')[0] ?? ''
    expect(await page.locator(`[id="${described}"]`).innerText()).toMatch(/^Price must be/)
    await keepScreenshot(page, 'console-errors')
  })

  test('adds an item with its defaults, and chooses what it refers to by a search', async () => {
    const { page, service, requests } = await openBook(open, '#/new/desk/books')
    expect(await page.getByLabel('genre').inputValue()).toBe('novel')
    await page.getByLabel('title', { exact: false }).first().fill('Das kunstseidene Mädchen')
    requests.splice(0)
    await page.getByRole('button', { name: 'Choose Author' }).click()
    await page.getByLabel('Search authors').fill('Irm')
    await expect.poll(() => page.getByRole('dialog').getByRole('listitem').count()).toBe(1)
    await keepScreenshot(page, 'console-picker')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await page.getByLabel('Author', { exact: true }).inputValue()).toBe('keun')
    expect(requests).toEqual([
      'GET desk/authors?$limit=10&$fields=author,name',
      'GET desk/authors?$limit=10&$fields=author,name&$q=Irm',
    ])
    await page.getByRole('button', { name: 'Add item' }).click()
    await onScreen(page, '3 · Das kunstseidene Mädchen')
    expect(await books(service).get(3)).toMatchObject({ author: 'keun', genre: 'novel' })
  })

  test('confirms a warning by its id; cancelling keeps what was entered, without old errors', async () => {
    const { page, problems, service } = await openBook(open)
    await page.getByLabel('Price').fill('x')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Price must be/).waitFor()
    await page.getByLabel('Price').fill('200')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm the warning?' })
    await dialog.getByText('A price above 100 is unusual.').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.getByText(/^Price must be/).count()).toBe(0)
    await keepScreenshot(page, 'console-warning')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Price').inputValue()).toBe('200')
    expect(await books(service).get(1)).toMatchObject({ price: '12.50' })
    await page.getByRole('button', { name: 'Save' }).click()
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST'),
      page.getByRole('button', { name: 'Confirm and save' }).click(),
    ])
    expect(await request.headerValue('x-svc-ignore-warnings')).toMatch(/^"[^"]+"$/)
    await saved(page)
    expect(await books(service).get(1)).toMatchObject({ price: '200.00' })
    takeRejections(problems, 400, 400, 400)
  })

  test('explains why an item that others refer to cannot be deleted', async () => {
    const { page, problems } = await openBook(open)
    await page.goto(page.url().replace(first, '#/item/desk/authors/keun'))
    await onScreen(page, 'keun · Irmgard Keun')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').getByText(/books/).waitFor()
    takeRejections(problems, 409)
    await keepScreenshot(page, 'console-conflict')
  })

  test('deletes an item after a question', async () => {
    const { page, service } = await openBook(open)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await books(service).get(1)).toBeDefined()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await onScreen(page, 'books')
    expect(await books(service).get(1)).toBeUndefined()
  })

  test('does not overwrite what somebody else has saved meanwhile', async () => {
    const { page, problems, service } = await openBook(open)
    await books(service).update(1, { pages: 400 })
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Overwrite it' }).waitFor()
    takeRejections(problems, 412)
    await keepScreenshot(page, 'console-stale')
    await page.getByRole('button', { name: 'Load the stored version' }).click()
    await expect.poll(() => page.getByLabel('pages').inputValue()).toBe('400')
    await expect.poll(() => page.getByRole('button', { name: 'Overwrite it' }).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    await page.getByRole('button', { name: 'Save' }).click()
    await saved(page)
  })

  test('asks before changes are lost', async () => {
    const { page } = await openBook(open)
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    const books = page.getByRole('link', { name: 'desk / books' })
    await books.click()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Effi')
    expect(page.url()).toContain(first)
    await books.click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await onScreen(page, 'books')
  })

  test('opens items whose composite key has any characters', async () => {
    const { page } = await openBook(open)
    await page.getByRole('link', { name: 'shelves' }).click()
    await page.getByRole('link', { name: 'a/b' }).click()
    await onScreen(page, 'a/b, c #1 %?ü')
    await page.getByLabel('width').fill('90')
    await page.getByRole('button', { name: 'Save' }).click()
    await saved(page)
    await page.reload()
    await onScreen(page, 'a/b, c #1 %?ü')
    expect(await page.getByLabel('width').inputValue()).toBe('90')
  })

  test('shows the form for signing in over what was entered when the session has ended', async () => {
    const service = openDesk(keys())
    await fill(service)
    const key = await keyOf(service)
    const { page, problems } = await open(service, { hash: first })
    await enterKey(page, key)
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    const [listed] = await service.keys.list()
    await service.keys.revoke(listed?.keyId ?? '')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.waitFor()
    takeRejections(problems, 401)
    await keepScreenshot(page, 'console-session-ended')
    await dialog.getByLabel('API key').fill('wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('Valid credentials are required.').waitFor()
    takeRejections(problems, 401)
    await dialog.getByLabel('API key').fill(await keyOf(service))
    await page.keyboard.press('Enter')
    // A key does not say whose it is.
    await page.getByRole('dialog', { name: 'Save what was entered before?' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save it' }).click()
    await saved(page)
    expect(await books(service).get(1)).toMatchObject({ title: 'Effi' })
  })

  test('says that a response was lost, and repeats nothing', async () => {
    const { page, problems, requests } = await openBook(open)
    await page.route(/books\/1$/, (route) => route.abort())
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    requests.splice(0)
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/The response was lost/)
      .waitFor()
    expect(requests).toHaveLength(1)
    expect(problems.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')])
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Effi')
  })
})
