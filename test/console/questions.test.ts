import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole, enterKey, fill, keyOf, keys, onScreen, openDesk } from './desk.ts'
import { takeRejections, type OpenPage } from './desk.ts'
import { button, enterPassword, link, openSignedIn } from './office.ts'
import { holdRequests } from './held.ts'

const questions = (page: Page) => page.getByRole('dialog').allInnerTexts()

async function openBook(open: OpenPage) {
  const service = openDesk(keys())
  await fill(service)
  const opened = await open(service, { hash: '#/data/desk/books' })
  const { page } = opened
  await enterKey(page, await keyOf(service))
  await page.getByRole('link', { name: '1', exact: true }).click()
  await page.getByLabel('Price').waitFor()
  return { service, ...opened }
}

describeConsole('a question of the console', (open) => {
  test('is taken back by the next one: a form goes on after a warning was not confirmed', async () => {
    const { page, problems } = await openBook(open)
    await page.getByLabel('Price').fill('300')
    await button(page, 'Save').click()
    await page.getByText('A price above 100 is unusual.').waitFor()
    await page.goBack()
    await button(page, 'Keep editing').waitFor()
    expect(await questions(page)).toEqual([expect.stringContaining('Discard your changes?')])
    // Enter must not discard what was entered.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Keep editing')
    await button(page, 'Keep editing').click()
    await button(page, 'Save').click()
    await button(page, 'Confirm and save').click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    takeRejections(problems, 400, 400)
  })

  test.each([
    ['the next one', (page: Page) => page.goBack()],
    ['Escape', (page: Page) => page.keyboard.press('Escape')],
  ])('discards nothing if it is taken back by %s', async (_, takeBack) => {
    const { page, service, problems } = await openBook(open)
    await page.getByLabel('Title', { exact: true }).fill('Effi')
    const [listed] = await service.keys.list()
    await service.keys.revoke(listed?.keyId ?? '')
    await button(page, 'Save').click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('API key').fill(await keyOf(service))
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Save what was entered before?' })
    await question.waitFor()
    await takeBack(page)
    await question.waitFor({ state: 'detached' })
    if (await button(page, 'Wait').isVisible()) await button(page, 'Wait').click()
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await button(page, 'Not now').click()
    await page.getByText('You are signed out.').waitFor()
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Effi')
    takeRejections(problems, 401)
  })

  test('ends the session of another user who has signed in if it is taken back', async () => {
    const { page, service, problems } = await openSignedIn(open)
    const password = 'his long password'
    await service.users.add({ user: 'bob', roles: ['Administrator'], password })
    const sessions = async () =>
      (await service.keys.list({ user: 'bob' })).map(({ revoked }) => revoked === null)
    await link(page, 'Users').click()
    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByLabel('User', { exact: true }).fill('maria')
    await service.users.change('ada', { password: 'a new long password' })
    await button(page, 'Add user').click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('User', { exact: true }).fill('bob')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Go on as bob?' }).waitFor()
    await page.goBack()
    await button(page, 'Wait').click()
    await button(page, 'Not now').click()
    await page.getByText('You are signed out.').waitFor()
    await expect.poll(sessions).toEqual([false])
    expect(await page.locator('.account').innerText()).toContain('ada')
    takeRejections(problems, 401)
  })
})

describeConsole('a change without a response yet', (open) => {
  test('keeps the dialog in which a key is rotated', async () => {
    const { page, service } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    await service.keys.create({ user: 'maria' })
    await link(page, 'Keys').click()
    await button(page, 'Rotate').click()
    const release = await holdRequests(page, /svc-admin\/keys$/)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText('The new key is being made…').waitFor()
    expect(await button(page, 'Cancel').isDisabled()).toBe(true)
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
    await dialog.getByText('The new key is being made…').waitFor()
    await page.goBack()
    await button(page, 'Wait').click()
    await page.goBack()
    await button(page, 'Leave').waitFor()
    release()
    // The question has no object any more.
    await button(page, 'Leave').waitFor({ state: 'detached' })
    await dialog.getByLabel('Key', { exact: true }).waitFor()
    expect(await service.keys.list({ user: 'maria' })).toHaveLength(2)
  })

  test('is not left without a question: a new key', async () => {
    const { page } = await openSignedIn(open)
    await link(page, 'Keys').click()
    await page.getByRole('link', { name: 'New key' }).click()
    await page.getByLabel('User', { exact: true }).fill('ada')
    const release = await holdRequests(page, /svc-admin\/keys$/)
    await button(page, 'Create key').click()
    await button(page, 'Saving…').waitFor()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByText('such as a new key, would be lost').waitFor()
    release()
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).waitFor()
    expect(await questions(page)).toHaveLength(1)
  })

  test('does not change the screen that is shown instead', async () => {
    const service = openDesk()
    const { page } = await open(service, { hash: '#/new/desk/authors' })
    // Not 'Search authors', which the list has.
    const author = page.getByLabel('Author', { exact: true })
    await author.fill('first')
    const release = await holdRequests(page, /desk\/authors$/)
    await button(page, 'Add item').click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await button(page, 'Leave').click()
    await page.getByRole('link', { name: 'New item' }).click()
    await author.fill('second')
    const response = page.waitForResponse(/desk\/authors$/)
    release()
    await response
    await page.waitForTimeout(200)
    await onScreen(page, 'New item')
    expect(await author.inputValue()).toBe('second')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await button(page, 'Keep editing').click()
  })

  test('is another one when the next user makes it', async () => {
    const { page, service, requests, problems, order, outbox } = await openSignedIn(open)
    const password = 'his long password'
    await service.users.add({ user: 'bob', roles: ['Administrator'], password })
    await order('A7')
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    await link(page, 'Outbox').click()
    const release = await holdRequests(page, /svc-admin\/deliveries\/[^/]+$/)
    await button(page, 'Retry').click()
    await service.users.change('ada', { password: 'a new long password' })
    await link(page, 'Users').click()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    takeRejections(problems, 401)
    await enterPassword(page, 'bob', password)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await link(page, 'Outbox').click()
    requests.splice(0)
    await button(page, 'Retry').click()
    await expect
      .poll(() => requests.filter((line) => line.startsWith('POST svc-admin/deliveries')))
      .toHaveLength(1)
    // The late rejection of the first one does not end the session of the next user.
    const rejected = page.waitForResponse((response) => response.status() === 401)
    release()
    await rejected
    await page.waitForTimeout(200)
    expect(await questions(page)).toEqual([])
    takeRejections(problems, 401)
  })
})

describeConsole('a new key', (open) => {
  test('counts as copied only if all of it was copied', async () => {
    const { page } = await openSignedIn(open)
    await page.goto(page.url().replace(/#.*|$/, '#/keys/new'))
    await page.getByLabel('User', { exact: true }).fill('ada')
    await button(page, 'Create key').click()
    const key = page.getByRole('dialog').getByLabel('Key', { exact: true })
    await key.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Control+C')
    await button(page, 'Done').click()
    await page.getByText('Close without copying?').waitFor()
    await button(page, 'Cancel').click()
    await key.focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Control+C')
    await button(page, 'Done').click()
    await onScreen(page, 'Keys')
  })
})
