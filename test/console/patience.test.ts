import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { keepScreenshot } from '../kit/browser.ts'
import { principal } from '../../src/entries/index.ts'
import { describeConsole, fill, onScreen, openDesk } from './desk.ts'
import { holdReads, holdRequests } from './held.ts'
import { button, link, openSignedIn } from './office.ts'
import { violations } from './violations.ts'

const changes = (requests: readonly string[]) =>
  requests.filter((line) => !line.startsWith('GET') && !line.includes('sessions'))

async function showKeyOf(page: Page, user: string): Promise<void> {
  await page.goto(page.url().replace(/#.*|$/, '#/keys/new'))
  await page.getByLabel('User', { exact: true }).fill(user)
  await button(page, 'Create key').click()
  await page.getByRole('dialog').getByLabel('Key', { exact: true }).waitFor()
}

describeConsole('the console on a slow network, and with impatient people', (open) => {
  test('keeps what is entered as soon as a form is there', async () => {
    const { page } = await open(openDesk(), { hash: '#/data/desk/authors' })
    await page.getByRole('link', { name: 'New item' }).waitFor()
    await page.evaluate(`new MutationObserver((_, observer) => {
      const input = document.querySelector('main form input:not([type=search])')
      if (!input) return
      observer.disconnect()
      input.value = 'early'
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }).observe(document.body, { childList: true, subtree: true })`)
    await page.getByRole('link', { name: 'New item' }).click()
    await onScreen(page, 'New item')
    await page.waitForTimeout(200)
    expect(await page.getByLabel('Author', { exact: true }).inputValue()).toBe('early')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor()
  })

  test('makes a change once, however often a button is pressed', async () => {
    const { page, service, requests, order, outbox, state } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    await service.keys.create({ user: 'maria' })
    await link(page, 'Keys').click()
    await button(page, 'Rotate').click()
    const rotateNow = await holdRequests(page, /svc-admin\/keys/)
    requests.splice(0)
    const rotate = page.getByRole('dialog').getByRole('button', { name: 'Rotate' })
    await rotate.dblclick()
    await rotate.press('Enter')
    rotateNow()
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).waitFor()
    expect(changes(requests)).toEqual(['POST svc-admin/keys'])
    expect(await service.keys.list({ user: 'maria' })).toHaveLength(2)
    await button(page, 'Done').click()
    await button(page, 'Close').click()
    await order('A7')
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    state.isMailUp = true
    await link(page, 'Outbox').click()
    const retryNow = await holdRequests(page, /svc-admin\/deliveries/)
    requests.splice(0)
    await button(page, 'Retry').dblclick()
    retryNow()
    await page.getByText('It is sent again.').waitFor()
    expect(changes(requests)).toHaveLength(1)
  })

  test('says that it is loading', async () => {
    const service = openDesk()
    await fill(service)
    const { page } = await open(service, { hash: '#/data/desk/books' })
    await page.getByRole('cell', { name: 'Gilgi' }).waitFor()
    const showEntrance = await holdReads(page, /document\.json/)
    const showBooks = await holdReads(page, /desk\/(books|authors)/)
    await page.reload()
    await page.locator('.entrance').getByText('Loading…').waitFor()
    showEntrance()
    await page.locator('#main').getByText('Loading…').waitFor()
    await page.waitForTimeout(700)
    await keepScreenshot(page, 'console-loading')
    expect(await violations(page)).toEqual([])
    showBooks()
    await page.getByRole('link', { name: '1', exact: true }).waitFor()
    const showBook = await holdReads(page, /desk\/(books|authors)/)
    await page.getByRole('link', { name: '1', exact: true }).click()
    await onScreen(page, '1')
    await page.getByText('Loading…').waitFor()
    showBook()
    await page.getByLabel('Title', { exact: true }).waitFor()
    expect(await page.getByText('Loading…').count()).toBe(0)
  })

  test('asks before the back button loses a key that was not copied', async () => {
    const { page } = await openSignedIn(open)
    await showKeyOf(page, 'ada')
    await page.goBack()
    await page.getByText('Close without copying?').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).waitFor()
    await page.goBack()
    await button(page, 'Close').click()
    await onScreen(page, 'Office')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('keeps the focus near an element that goes away', async () => {
    const { page, service } = await openSignedIn(open)
    const focused = () => page.evaluate('document.activeElement.textContent')
    await service.users.add({ user: 'maria' })
    for (const description of ['first', 'second'])
      await service.keys.create({ user: 'maria', description })
    await link(page, 'Keys').click()
    await button(page, 'Filter').press('Enter')
    await page.getByLabel('Field').selectOption('user')
    await page.getByLabel('Value').fill('maria')
    await page.keyboard.press('Enter')
    const chip = page.getByRole('button', { name: /User = maria/ })
    await chip.waitFor()
    await expect.poll(focused).toBe('Filter')
    await chip.press('Enter')
    await chip.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Filter')
    await button(page, 'Revoke').first().press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await expect.poll(focused).toBe('maria')
    await button(page, 'Revoke').press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
    await page.getByText('There are no items yet.').waitFor()
    await expect.poll(focused).toBe('Keys')
  })

  test('moves the focus to the row after or before one that goes away', async () => {
    const { page, service } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    for (const description of ['first', 'second', 'third', 'fourth'])
      await service.keys.create({ user: 'maria', description })
    await page.goto(page.url().replace(/#.*|$/, '#/keys?.user=maria'))
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(4)
    const focused = () =>
      page.evaluate('document.activeElement.closest("tr")?.cells[2].textContent')
    for (const [revoked, next] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const expected = await rows.nth(next).locator('td').nth(2).textContent()
      await rows.nth(revoked).getByRole('button', { name: 'Revoke' }).press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
      await expect.poll(focused).toBe(expected)
    }
  })

  test('takes back a question when another screen is shown', async () => {
    const { page, service, requests } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    await service.keys.create({ user: 'maria' })
    await link(page, 'Users').click()
    await onScreen(page, 'Users')
    await link(page, 'Keys').click()
    requests.splice(0)
    await button(page, 'Revoke').click()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await onScreen(page, 'Users')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(changes(requests)).toEqual([])
  })

  test('shows and keeps text of every direction, with emoji', async () => {
    const service = openDesk()
    await fill(service)
    const books = service.as(principal('test')).collection('desk', 'books')
    const title = 'שלום (2) 👩‍👩‍👧‍👦 – مرحبا'
    await books.update(2, { title })
    const { page } = await open(service, { hash: '#/data/desk/books' })
    const shown = title.replaceAll('\u200d', '\\u200d')
    await page.getByRole('cell', { name: shown }).waitFor()
    const cell = 'document.querySelector("tbody tr:nth-child(2) td:nth-child(2)")'
    expect(await page.evaluate(`getComputedStyle(${cell}).direction`)).toBe('rtl')
    await page.getByRole('link', { name: '2', exact: true }).click()
    const input = page.getByLabel('Title', { exact: true })
    expect(await input.inputValue()).toBe(title)
    await page.getByLabel('Pages').fill('241')
    await button(page, 'Save').click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    expect(await books.get(2)).toMatchObject({ title, pages: 241 })
    await input.fill('😀'.repeat(60))
    await button(page, 'Save').click()
    await expect.poll(() => books.get(2)).toMatchObject({ title: '😀'.repeat(60) })
    await keepScreenshot(page, 'console-directions')
  })
})
