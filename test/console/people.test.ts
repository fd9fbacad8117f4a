import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { httpBasic } from '../../src/entries/security.ts'
import { keepScreenshot } from '../kit/browser.ts'
import {
  describeConsole,
  enterKey,
  fill,
  keyOf,
  keys,
  onScreen,
  openDesk,
  overflow,
  takeRejections,
  type OpenOptions,
} from './desk.ts'
import { violations } from './violations.ts'

const looks: Readonly<Record<string, OpenOptions>> = {
  light: {},
  dark: { colorScheme: 'dark' },
  narrow: { viewport: { width: 400, height: 800 } },
}

describeConsole('the console', (open) => {
  test.each(Object.entries(looks))('is accessible on every screen, %s', async (look, options) => {
    const service = openDesk(keys())
    await fill(service)
    const { page, problems } = await open(service, options)
    const check = async (name: string): Promise<void> => {
      expect([name, await violations(page), await overflow(page)]).toEqual([name, [], 0])
      await keepScreenshot(page, `console-${look}-${name}`)
    }
    await page.getByLabel('API key').waitFor()
    await check('sign-in')
    await enterKey(page, await keyOf(service))
    await onScreen(page, 'Desk')
    await check('home')
    await page.goto(page.url().replace(/#.*|$/, '#/data/desk/books'))
    await page.getByRole('link', { name: '1', exact: true }).waitFor()
    await check('grid')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await check('filter')
    await page.getByRole('button', { name: 'Columns' }).click()
    await check('columns')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('link', { name: 'Download' }).waitFor()
    await check('export')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: '1', exact: true }).click()
    await onScreen(page, '1 · Effi Briest')
    await page.getByLabel('Price').fill('x')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Price must be/).waitFor()
    await check('item')
    await page.getByRole('button', { name: 'Choose Author' }).click()
    await page.getByRole('dialog').getByText('Irmgard Keun').waitFor()
    await check('picker')
    takeRejections(problems, 400)
  })

  test('can be used with the keyboard only', async () => {
    const service = openDesk(keys())
    await fill(service)
    const key = await keyOf(service)
    const { page, problems } = await open(service)
    await page.getByLabel('API key').waitFor()
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await onScreen(page, 'Desk')
    await expect.poll(() => focused(page)).toBe('Desk')
    await tabTo(page, 'books')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: '2', exact: true }).waitFor()
    expect(await page.title()).toBe('books · Desk')
    await expect.poll(() => focused(page)).toBe('books')
    await tabTo(page, '2')
    await page.keyboard.press('Enter')
    await onScreen(page, '2 · Gilgi')
    await page.getByLabel('Price').waitFor()
    await tabTo(page, 'field-price')
    await page.keyboard.type('300')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe('field-price')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Confirm and save')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Saved.').waitFor()
    takeRejections(problems, 400, 400)
  })

  test('asks for the providers in the order of their priority, and keeps no credential', async () => {
    const service = openDesk([
      keys(),
      httpBasic({ name: 'passwords', priority: 0, allowInsecureHttp: true }),
    ])
    await service.users.add({ user: 'maria', password: 'ein langes Päßwort' })
    const { page, problems } = await open(service)
    const names = await page.locator('.choices label').allInnerTexts()
    expect(names.map((name) => name.trim())).toEqual(['User and password', 'API key'])
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Valid credentials are required.').waitFor()
    takeRejections(problems, 401)
    await keepScreenshot(page, 'console-wrong-password')
    await page.getByLabel('Password', { exact: true }).fill('ein langes Päßwort')
    await page.keyboard.press('Enter')
    await onScreen(page, 'Desk')
    expect(await stored(page)).not.toMatch(/Päßwort|Basic/)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password', { exact: true }).waitFor()
  })

  test('does not show a collection to a caller without its roles', async () => {
    const service = openDesk(keys())
    await service.users.add({ user: 'nobody' })
    const { page } = await open(service, { hash: '#/data/desk/secrets' })
    await enterKey(page, await keyOf(service))
    await page.getByText('There is nothing here, or you may not see it.').waitFor()
    expect(await page.getByRole('link', { name: 'secrets' }).count()).toBe(0)
  })

  test('shows hostile values as text', async () => {
    const service = openDesk()
    await fill(service)
    const authors = service.as(principal('test')).collection('desk', 'authors')
    const evil = '<img src=x onerror="document.title=1">'
    await authors.insert({ author: '"><script>1</script>', name: evil })
    await authors.insert({ author: 'bidi', name: 'a\u202Egpj.exe' })
    await authors.insert({ author: 'long', name: 'x'.repeat(10_000) })
    const { page } = await open(service, { hash: '#/data/desk/authors' })
    await page.getByText(evil).waitFor()
    await page.getByText('a\\u202egpj.exe').waitFor()
    expect(await page.locator('td', { hasText: 'xxxx' }).innerText()).toMatch(/^x{120}…/)
    expect(await page.locator('img, td script').count()).toBe(0)
    await keepScreenshot(page, 'console-hostile')
    await page.getByRole('link', { name: '"><script>' }).click()
    await onScreen(page, /<script>1<\/script> · <img/)
    expect(await page.locator('img, main script').count()).toBe(0)
    expect(await page.title()).toContain('<img')
    await authors.insert({ author: 'a\u202Eb\u061Cc', name: null })
    await page.goto(page.url().replace(/#.*/, '#/item/desk/books/1'))
    await page.getByRole('button', { name: 'Choose Author' }).click()
    await page.getByRole('dialog').getByText('a\\u202eb\\u061cc').waitFor()
  })
})

function stored(page: Page): Promise<string> {
  return page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
}

/** Returns the id or the text of the element that has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id || document.activeElement.textContent')
}

async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if ((await focused(page)) === wanted) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The Tab key does not lead to ${wanted}.`)
}
