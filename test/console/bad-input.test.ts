import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { adminConsole } from '../../src/entries/console.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { keepScreenshot } from '../kit/browser.ts'
import { breakable } from './breakable.ts'
import {
  describeConsole,
  enterKey,
  fill,
  keyOf,
  keys,
  onScreen,
  openDesk,
  otherHost,
  overflow,
  takeRejections,
} from './desk.ts'
import { button } from './office.ts'
import { violations } from './violations.ts'

const odd = 'a/b, c%20d #1 ?é'
const saved = (page: Page) => page.getByRole('status').getByText('Saved.').waitFor()

describeConsole('the console with unusual data', (open) => {
  test('shows and changes items of 60 fields', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `field${index + 1}`)
    const fields = Object.fromEntries(names.map((name) => [name, text({ maxLength: 40 })]))
    const wide = defineCollection({ key: 'id', fields: { id: integer(), ...fields } })
    const notes = defineCollection({
      key: 'note',
      publishes: ['Insert'],
      fields: { note: text(), about: text() },
    })
    const empty = defineCollection({ key: 'id', fields: { id: integer() } })
    const service = createService({
      applications: { desk: { collections: { wide, notes, empty } } },
      storage: memoryStorage(),
      security: openAccess(),
      pages: { console: adminConsole({ title: 'Desk' }) },
    })
    const items = service.as(principal('test')).collection('desk', 'wide')
    await items.insert({ id: 1, ...Object.fromEntries(names.map((name) => [name, name])) })
    for (const viewport of [undefined, { width: 400, height: 800 }]) {
      const { page } = await open(service, {
        hash: '#/data/desk/wide',
        ...(viewport && { viewport }),
      })
      await page.getByRole('cell', { name: 'field59' }).waitFor()
      expect([await overflow(page), await violations(page)]).toEqual([0, []])
      await page.getByRole('link', { name: '1', exact: true }).click()
      await onScreen(page, '1')
      await page.getByLabel('Field60', { exact: true }).fill(`changed ${String(viewport?.width)}`)
      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.method() === 'POST'),
        button(page, 'Save').click(),
      ])
      expect(Object.keys(JSON.parse(request.postData() ?? '') as object)).toEqual(['field60'])
      await saved(page)
      expect([await overflow(page), await violations(page)]).toEqual([0, []])
      // A collection that can't be read, and one without items.
      await page.goto(page.url().replace(/#.*/, '#/data/desk/notes'))
      await page.getByText("You can't list the items of this collection.").waitFor()
      await page.getByRole('link', { name: 'New item' }).waitFor()
      expect([await overflow(page), await violations(page)]).toEqual([0, []])
      await page.goto(page.url().replace(/#.*/, '#/data/desk/empty'))
      await page.locator('.empty').waitFor()
      expect(await violations(page)).toEqual([])
    }
  })

  test('opens, refers to and deletes an item whose key has any characters', async () => {
    const service = openDesk()
    await fill(service)
    const authors = service.as(principal('test')).collection('desk', 'authors')
    await authors.insert({ author: odd, name: 'Odd' })
    const { page, problems } = await open(service, { hash: '#/data/desk/authors' })
    await page.getByRole('link', { name: odd }).click()
    await onScreen(page, `${odd} · Odd`)
    await page.getByLabel('name').fill('Odder')
    await button(page, 'Save').click()
    await saved(page)
    await page.reload()
    await onScreen(page, `${odd} · Odder`)
    await page.goto(page.url().replace(/#.*/, '#/item/desk/books/1'))
    await button(page, 'Choose Author').click()
    await page.getByRole('dialog').getByRole('button', { name: odd }).click()
    await button(page, 'Save').click()
    await saved(page)
    await page.getByRole('link', { name: 'Open' }).click()
    await onScreen(page, `${odd} · Odder`)
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').getByText(/books/).waitFor()
    takeRejections(problems, 409)
    await service.as(principal('test')).collection('desk', 'books').update(1, { author: null })
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await onScreen(page, 'authors')
    expect(await authors.get(odd)).toBeUndefined()
  })

  test('shows that storage is down, and keeps what was entered', async () => {
    const { storage, state } = breakable()
    const service = openDesk(openAccess(), storage)
    await fill(service)
    const { page, problems } = await open(service, { hash: '#/item/desk/books/1' })
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    state.isDown = true
    await button(page, 'Save').click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.innerText()).toBe(
      'The service is not available at the moment. Try again in 3 seconds.',
    )
    takeRejections(problems, 503)
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Effi')
    await keepScreenshot(page, 'console-storage-down')
    state.isDown = false
    await button(page, 'Save').click()
    await saved(page)
    state.isDown = true
    await page.getByRole('link', { name: 'desk / books' }).click()
    await page
      .getByRole('alert')
      .getByText(/Try again/)
      .waitFor()
    takeRejections(problems, 503)
    expect(await violations(page)).toEqual([])
    state.isDown = false
    await page.reload()
    await page.getByRole('cell', { name: 'Gilgi' }).waitFor()
  })

  test('shows the matches of what is in the search of references, not those of an earlier one', async () => {
    const service = openDesk()
    await fill(service)
    const { page } = await open(service, { hash: '#/item/desk/books/1' })
    await page.route(/q=Irm/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue().catch(() => undefined)
    })
    await button(page, 'Choose Author').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Irmgard Keun').waitFor()
    await page.getByLabel('Search authors').fill('Irm')
    await page.waitForRequest(/q=Irm/)
    await page.getByLabel('Search authors').fill('Theo')
    await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toHaveLength(1)
    await page.waitForTimeout(600)
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringContaining('Fontane'),
    ])
    // The first one empties the input, as in every search.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Choose Author')
  })

  test('says that a right is missing since the form was opened, and keeps what was entered', async () => {
    const service = openDesk(keys())
    const secrets = service
      .as(principal('clerk', { roles: ['Secret'] }))
      .collection('desk', 'secrets')
    await secrets.insert({ id: 1, word: 'open' })
    const key = await keyOf(service, ['Secret'])
    const { page, problems } = await open(service, { hash: '#/item/desk/secrets/1' })
    await enterKey(page, key)
    await page.getByLabel('word').fill('shut')
    await service.users.change('maria', { roles: [] })
    await button(page, 'Save').click()
    await page.getByRole('alert').waitFor()
    await keepScreenshot(page, 'console-right-lost')
    takeRejections(problems, 403)
    expect(await page.getByLabel('word').inputValue()).toBe('shut')
    await service.users.change('maria', { roles: ['Secret'] })
    await button(page, 'Save').click()
    await saved(page)
    expect(await secrets.get(1)).toMatchObject({ word: 'shut' })
  })

  test('works over plain HTTP with another host', async () => {
    const service = openDesk(keys())
    await fill(service)
    const { page } = await open(service, { hash: '#/data/desk/books', host: otherHost })
    expect(await page.evaluate('isSecureContext')).toBe(false)
    await enterKey(page, await keyOf(service))
    await page.getByRole('link', { name: '1', exact: true }).click()
    await onScreen(page, '1 · Effi Briest')
    await page.getByLabel('pages').fill('355')
    await button(page, 'Save').click()
    await saved(page)
  })
})
