import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, onScreen, overflow, takeRejections } from './desk.ts'
import { addPastRequests, button, enterPassword, link, openOffice, openSignedIn } from './office.ts'
import { violations } from './violations.ts'

const everything = (page: Page): Promise<string> =>
  page.evaluate(
    'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, document.title]) + document.documentElement.outerHTML',
  )

describeConsole('the console of an administrator', (open) => {
  test('exchanges the password for a session that signing out revokes', async () => {
    const { page, requests, service } = await openSignedIn(open)
    await onScreen(page, 'Office')
    expect(requests).toEqual([
      ...['GET console', 'GET console/console.css', 'GET console/console.js'],
      ...['POST svc-admin/sessions', 'GET console/document.json'],
    ])
    expect(await everything(page)).not.toMatch(/a long password|Basic/)
    expect(await service.keys.list()).toHaveLength(1)
    await page.reload()
    await onScreen(page, 'Office')
    await button(page, 'Sign out').click()
    await page.getByLabel('Password', { exact: true }).waitFor()
    const [ended] = await service.keys.list()
    expect(ended?.revoked).not.toBeNull()
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toBe('{}')
  })

  test('keeps a credential that is not exchanged in memory', async () => {
    const { service } = await openOffice()
    const { page, problems } = await open(service)
    const { key } = await service.keys.create({ user: 'ada', expiresIn: 1 })
    await page.getByRole('radio', { name: 'API key' }).check()
    await page.locator('[name=secret]').fill(key)
    await page.keyboard.press('Enter')
    await onScreen(page, 'Office')
    takeRejections(problems, 400)
    expect(await everything(page)).not.toContain(key)
    await link(page, 'Users').click()
    await onScreen(page, 'Users')
  })

  test('adds a user with roles, after a warning about a role that nothing names', async () => {
    const { page, service, problems } = await openSignedIn(open)
    await link(page, 'Users').click()
    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('Sales').check()
    await page.getByLabel('Another role').fill('Sale')
    await page.keyboard.press('Enter')
    await page.getByLabel('Password', { exact: true }).fill('another long password')
    await keepScreenshot(page, 'console-new-user')
    await button(page, 'Add user').click()
    await page.getByRole('dialog').getByText('No collection names the role Sale.').waitFor()
    await button(page, 'Cancel').click()
    await page.getByLabel('Sale', { exact: true }).click()
    await button(page, 'Add user').click()
    await onScreen(page, 'maria')
    expect(await service.users.get('maria')).toMatchObject({ roles: ['Sales'] })
    expect(await everything(page)).not.toContain('another long password')
    takeRejections(problems, 400)
    await page.getByRole('link', { name: 'Keys of the user' }).click()
    await onScreen(page, 'Keys')
    expect(await page.getByRole('button', { name: /User = maria/ }).count()).toBe(1)
  })

  test('rejects what would leave no administrator', async () => {
    const { page, problems, service } = await openSignedIn(open)
    await page.goto(page.url().replace(/#.*|$/, '#/users/ada'))
    await page.getByLabel('Administrator').uncheck()
    await button(page, 'Save').click()
    await page.getByRole('dialog').getByText('You are changing your own roles.').waitFor()
    await button(page, 'Confirm and save').click()
    await page.getByText(/At least one enabled user/).waitFor()
    await keepScreenshot(page, 'console-last-administrator')
    takeRejections(problems, 400, 400)
    expect(await service.users.get('ada')).toMatchObject({
      roles: expect.arrayContaining(['Administrator']) as unknown,
    })
  })

  test('shows a new key once, and nowhere after that', async () => {
    const { page, service } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    await link(page, 'Keys').click()
    await page.getByRole('link', { name: 'New key' }).click()
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('description').fill('the laptop')
    await page.getByLabel('Expires in').selectOption('7 days')
    await keepScreenshot(page, 'console-new-key')
    await button(page, 'Create key').click()
    const input = page.getByRole('dialog').getByLabel('Key')
    const key = await input.inputValue()
    expect(await service.keys.list()).toHaveLength(2)
    await keepScreenshot(page, 'console-key-once')
    expect(await violations(page)).toEqual([])
    await button(page, 'Done').click()
    await page.getByText("The key can't be shown again.").waitFor()
    await button(page, 'Cancel').click()
    await button(page, 'Copy').click()
    await page.getByText(/Copied\.|Copy the selected key yourself\./).waitFor()
    await button(page, 'Done').click()
    if (await page.getByText('Close without copying?').isVisible())
      await button(page, 'Close').click()
    await onScreen(page, 'Keys')
    await page.getByRole('cell', { name: 'the laptop' }).waitFor()
    expect(await everything(page)).not.toContain(key)
    await page.goBack()
    await page.goForward()
    await onScreen(page, 'Keys')
    expect(await everything(page)).not.toContain(key)
  })

  test('rotates a key with an overlap, and revokes one', async () => {
    const { page, service } = await openSignedIn(open)
    await service.users.add({ user: 'maria' })
    const { keyId } = await service.keys.create({ user: 'maria', description: 'old' })
    await link(page, 'Keys').click()
    await button(page, 'Rotate').click()
    await page.getByLabel('When does the old key stop working?').selectOption('After an hour')
    await keepScreenshot(page, 'console-rotate')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByLabel('Key').waitFor()
    await button(page, 'Done').click()
    await button(page, 'Close').click()
    await expect.poll(() => page.getByRole('cell', { name: 'maria' }).count()).toBe(2)
    await keepScreenshot(page, 'console-keys')
    const row = page
      .getByRole('row')
      .filter({ hasText: keyId.slice(0, 0) })
      .last()
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => page.getByRole('cell', { name: 'maria' }).count()).toBe(1)
    await page.getByRole('link', { name: 'Revoked keys' }).click()
    await page.getByRole('cell', { name: 'maria' }).waitFor()
  })

  test('builds a release, shows why a build has failed, and downloads a package', async () => {
    const { page, state } = await openSignedIn(open)
    const build = async (version: string): Promise<void> => {
      await link(page, 'Releases').click()
      await page.getByRole('link', { name: 'New build' }).click()
      await page.getByLabel('Solution ID').selectOption('Shop')
      await page.getByLabel('version').fill(version)
      await page.getByLabel('Release notes').fill('Faster.')
      await button(page, 'Build').click()
    }
    let start = (): void => undefined
    state.buildStart = new Promise((resolve) => (start = resolve))
    await build('1.1')
    await page.getByText(/Building…|Waiting for a worker…/).waitFor()
    await keepScreenshot(page, 'console-building')
    start()
    await page.getByText('The builder has failed.').waitFor()
    await keepScreenshot(page, 'console-build-failed')
    state.isBuildBroken = false
    await build('1.2')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download the package').click(),
    ])
    expect(download.suggestedFilename()).toBe('northwind.zip')
    await link(page, 'Releases').click()
    await page.getByRole('cell', { name: 'failed', exact: true }).waitFor()
    await keepScreenshot(page, 'console-releases')
  })

  test('reads a dead delivery and sends it again', async () => {
    const { page, state, order, outbox } = await openSignedIn(open)
    await order('A7')
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    await link(page, 'Outbox').click()
    await page.getByRole('cell', { name: 'dead' }).waitFor()
    await keepScreenshot(page, 'console-outbox')
    await page.locator('td a').first().click()
    await page.getByText('A7').first().waitFor()
    await keepScreenshot(page, 'console-delivery')
    state.isMailUp = true
    await button(page, 'Retry').click()
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('delivered')
  })

  test('has an audit trail with actors, and numbers of the service', async () => {
    const { page, service } = await openSignedIn(open)
    await page.goto(page.url().replace(/#.*|$/, '#/users/new?new=1'))
    await page.getByLabel('User', { exact: true }).fill('maria')
    await button(page, 'Add user').click()
    await onScreen(page, 'maria')
    expect(await service.users.get('maria')).toBeDefined()
    await page.getByRole('link', { name: 'Audit trail' }).last().click()
    await page.getByRole('row').filter({ hasText: 'maria' }).filter({ hasText: 'ada' }).waitFor()
    await keepScreenshot(page, 'console-audit')
    await link(page, 'Service').click()
    await page.getByText('QA').waitFor()
    await page.getByRole('heading', { name: 'Deliveries of main' }).waitFor()
    await keepScreenshot(page, 'console-service')
  })

  test('shows the requests of keys by day, as bars and as numbers', async () => {
    const { page, service, storage } = await openSignedIn(open)
    const { keyId } = await service.keys.create({ user: 'ada' })
    const sum = (await addPastRequests(storage, keyId)).toLocaleString('en')
    const today = new Date().toISOString().slice(0, 10)
    for (const [screen, title] of [
      ['service', 'Requests of keys by day'],
      [`keys/${keyId}`, 'Requests by day'],
    ] as const) {
      await page.goto(page.url().replace(/#.*|$/, `#/${screen}`))
      const chart = page.locator('section').filter({ hasText: title })
      await chart.getByText(`${sum} in 30 days, 7 today`).waitFor()
      const heights = await chart
        .locator('rect')
        .evaluateAll((bars: { getAttribute: (name: string) => string }[]) =>
          bars.map((bar) => Number(bar.getAttribute('height'))),
        )
      expect(heights).toHaveLength(30)
      expect([heights[0], Math.max(...heights)]).toEqual([0, 40])
      await chart.getByText('Numbers').click()
      const row = chart.getByRole('row', { name: today })
      expect(await row.innerText()).toMatch(/7$/)
      expect(await violations(page)).toEqual([])
    }
  })

  test('shows a sentence to a caller without any rights, and the menu after a role was given', async () => {
    const { service } = await openOffice()
    await service.users.add({ user: 'otto', password: 'a third long one' })
    const { page } = await open(service)
    await enterPassword(page, 'otto', 'a third long one')
    await page.getByText('You have no rights to any collection of this service.').waitFor()
    await keepScreenshot(page, 'console-no-rights')
    await service.users.change('otto', { roles: ['Sales'] })
    await page.reload()
    await link(page, 'orders').waitFor()
  })

  test('shows other parts of the menu when a role was taken away meanwhile', async () => {
    const { page, service, problems } = await openSignedIn(open)
    await link(page, 'orders').waitFor()
    await service.users.change('ada', { roles: ['Administrator'] })
    await link(page, 'orders').click()
    await link(page, 'orders').waitFor({ state: 'detached' })
    takeRejections(problems, 403)
    await link(page, 'Users').click()
    await onScreen(page, 'Users')
  })

  test('shows an auditor everything, and no button', async () => {
    const { service } = await openOffice()
    await service.users.add({ user: 'otto', roles: ['Auditor'], password: 'a third long one' })
    const { page } = await open(service)
    await enterPassword(page, 'otto', 'a third long one')
    await link(page, 'Keys').click()
    await onScreen(page, 'Keys')
    await page.getByText(/There are no items|1–/).waitFor()
    expect(await page.getByRole('link', { name: 'New key' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
  })

  test.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 400, height: 800 } }],
  ] as const)('is accessible on every screen, %s', async (look, options) => {
    const { page, order, outbox, service, storage } = await openSignedIn(open, options)
    const { keyId } = await service.keys.create({ user: 'ada', description: 'the shop' })
    await addPastRequests(storage, keyId)
    await order('A7')
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    const root = page.url().replace(/#.*/, '')
    const screens = [
      ...['users', 'users/new?new=1', 'users/ada', 'keys', 'keys/new', 'revoked-keys', 'audit'],
      ...['releases', 'releases/new', 'outbox', 'service', `keys/${keyId}`],
    ]
    for (const screen of screens) {
      await page.goto(`${root}#/${screen}`)
      await page.locator('table, form, .empty, .chart').first().waitFor()
      expect([screen, await violations(page), await overflow(page)]).toEqual([screen, [], 0])
      expect([screen, await buttonsBeyond(page)]).toEqual([screen, []])
      const name = screen.replace(keyId, 'one').replace(/\W+/g, '-')
      await keepScreenshot(page, `console-${look}-${name}`)
    }
  })
})

/** Returns the texts of the buttons that are not wholly in the window, without those in the heads of grids. */
function buttonsBeyond(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll('button:not(th *, .narrow), .button')]
    .filter((one) => one.checkVisibility())
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.textContent)`)
}
