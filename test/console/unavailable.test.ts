import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { openAccess } from '../../src/entries/index.ts'
import { keepScreenshot } from '../kit/browser.ts'
import { prefix } from '../kit/mounts.ts'
import { breakable } from './breakable.ts'
import { describeConsole, enterKey, fill, keyOf, keys, onScreen, openDesk } from './desk.ts'
import { overflow, takeRejections } from './desk.ts'
import { holdRequests } from './held.ts'
import { button, enterPassword, link, openOffice, openSignedIn } from './office.ts'
import { violations } from './violations.ts'

const isDown = 'The service is not available at the moment. Try again in 3 seconds.'

describeConsole('the console of a service that is not available', (open) => {
  test('keeps the session when it is loaded again, and goes on when the service is back', async () => {
    const { storage, state } = breakable()
    const { service } = await openOffice(storage)
    const { page, problems } = await open(service, { hash: '#/users' })
    await enterPassword(page, 'ada', 'a long password')
    await onScreen(page, 'Users')
    await page.getByRole('link', { name: 'ada' }).waitFor()
    state.isDown = true
    await page.reload()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.allInnerTexts()).toEqual([isDown])
    expect([await violations(page), await overflow(page)]).toEqual([[], 0])
    await keepScreenshot(page, 'console-reloaded-while-down')
    await button(page, 'Try again').click()
    await expect.poll(() => problems).toHaveLength(2)
    takeRejections(problems, 503, 503)
    state.isDown = false
    await button(page, 'Try again').click()
    await onScreen(page, 'Users')
    await page.getByRole('link', { name: 'ada' }).waitFor()
    expect(await alert.count()).toBe(0)
    state.isDown = true
    await page.reload()
    await button(page, 'Sign out').click()
    await page.getByLabel('Password', { exact: true }).waitFor()
    takeRejections(problems, 503, 503)
  })

  test('signs out without waiting for a service that does not respond', async () => {
    const { storage, state } = breakable()
    const { service } = await openOffice(storage)
    const { page, problems } = await open(service)
    await enterPassword(page, 'ada', 'a long password')
    state.isDown = true
    await page.reload()
    await holdRequests(page, /svc-admin\/sessions/)
    await button(page, 'Sign out').click()
    // What has ended can't be started again.
    await page.getByText('Loading…').waitFor()
    expect(await button(page, 'Try again').count()).toBe(0)
    await page.getByLabel('Password', { exact: true }).waitFor()
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toBe('{}')
    takeRejections(problems, 503)
  })

  test.each([
    [502, '{}', 'The service responded 502.'],
    [502, '{"message":null,"validations":1}', 'The service responded 502.'],
    [502, '{"message":""}', 'The service responded 502.'],
    [502, 'null', 'The service responded 502.'],
    [200, '<html>', 'The response did not come from the service. Try again.'],
    [200, 'null', 'The response did not come from the service. Try again.'],
  ])('says what a proxy has responded: %i with %s', async (status, body, message) => {
    const { service } = await openOffice()
    const { page, problems } = await open(service)
    const respond = (route: Route) => route.fulfill({ status, body })
    await page.route('**/svc-admin/sessions', respond)
    await page.getByLabel('User', { exact: true }).fill('ada')
    await page.getByLabel('Password', { exact: true }).fill('a long password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText(`The service responded ${status}.`).waitFor()
    await page.unroute('**/svc-admin/sessions')
    await enterPassword(page, 'ada', 'a long password')
    await page.route('**/document.json', respond)
    await page.reload()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.innerText()).toBe(message)
    const again = page.waitForResponse('**/document.json')
    await button(page, 'Try again').click()
    await again
    await button(page, 'Try again').waitFor()
    expect(await alert.innerText()).toBe(message)
    await page.unroute('**/document.json')
    await button(page, 'Try again').click()
    await onScreen(page, 'Office')
    takeRejections(problems, ...(status === 200 ? [] : [502, 502, 502]))
  })

  test('says it once on a screen with several requests', async () => {
    const { storage, state } = breakable()
    const { service } = await openOffice(storage)
    const { page, problems } = await open(service)
    await enterPassword(page, 'ada', 'a long password')
    await onScreen(page, 'Office')
    state.isDown = true
    await link(page, 'Service').click()
    await page.getByRole('alert').waitFor()
    await expect.poll(() => problems.length).toBeGreaterThan(1)
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([isDown])
    expect(await violations(page)).toEqual([])
    state.isDown = false
    await button(page, 'Try again').click()
    await page.getByText('Requests of keys by day').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    takeRejections(problems, ...problems.map(() => 503))
  })

  test('watches a build again', async () => {
    const { page, state, problems } = await openSignedIn(open)
    state.isBuildBroken = false
    let start = (): void => undefined
    state.buildStart = new Promise((resolve) => (start = resolve))
    await page.goto(page.url().replace(/#.*|$/, '#/releases/new'))
    await page.getByLabel('Solution ID').selectOption('Shop')
    await page.getByLabel('version').fill('1.1')
    await button(page, 'Build').click()
    await page.getByText(/Building…|Waiting for a worker…/).waitFor()
    await page.route(/svc-admin\/builds\//, (route) => route.abort())
    await button(page, 'Try again').waitFor()
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([
      'The service could not be reached. Try again.',
    ])
    await page.unroute(/svc-admin\/builds\//)
    start()
    await button(page, 'Try again').click()
    await button(page, 'Download the package').waitFor()
    await page.getByText('The build has ended: built.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(problems.splice(0)).toEqual([expect.stringContaining('net::ERR_FAILED')])
  })

  test.each(['#/data/desk/books', '#/item/desk/books/1'])('loads %s again', async (hash) => {
    const { storage, state } = breakable()
    const service = openDesk(openAccess(), storage)
    await fill(service)
    const { page, problems } = await open(service, { hash: '#/data/desk/shelves' })
    await page.getByRole('link', { name: 'a/b' }).waitFor()
    state.isDown = true
    await page.goto(page.url().replace(/#.*/, hash))
    await button(page, 'Try again').waitFor()
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([isDown])
    takeRejections(problems, 503)
    state.isDown = false
    await button(page, 'Try again').click()
    await page.getByText('Effi Briest').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.goto(page.url().replace(/#.*/, '#/item/desk/books/99'))
    await page.getByRole('alert').waitFor()
    // There would be none at another try either.
    expect(await button(page, 'Try again').count()).toBe(0)
    takeRejections(problems, 404)
  })

  test('takes the provider of a new key as text if it cannot read them', async () => {
    const { page, problems, service } = await openSignedIn(open)
    await page.route(/svc-admin\/providers/, (route) => route.abort())
    await page.goto(page.url().replace(/#.*|$/, '#/keys/new'))
    const provider = page.getByRole('textbox', { name: 'Provider' })
    await provider.fill('Nothing')
    await page.getByLabel('User', { exact: true }).fill('ada')
    await button(page, 'Create key').click()
    await expect.poll(() => provider.getAttribute('aria-invalid')).toBe('true')
    const about = await provider.getAttribute('aria-describedby')
    expect(await page.locator(`[id="${about?.split(' ')[0]}"]`).innerText()).toContain(
      'There is no such',
    )
    expect(await violations(page)).toEqual([])
    expect(problems.splice(0)).toEqual([
      expect.stringContaining('ERR_FAILED'),
      expect.stringContaining('status of 400'),
    ])
    await provider.fill('API Key')
    await button(page, 'Create key').click()
    await page.getByRole('dialog').getByLabel('Key').waitFor()
    const created = (await service.keys.list()).filter(({ user }) => user === 'ada')
    expect(created).toHaveLength(2)
  })

  test('works with a browser that stores nothing, and with values that are not its own', async () => {
    const service = openDesk(keys())
    await fill(service)
    const { page } = await open(service, { hash: '#/data/desk/books' })
    await page.evaluate(`
      localStorage.setItem('rowgate console columns ${prefix}/rest/v1/console desk/books', '{')
      sessionStorage.setItem('rowgate console ${prefix}/rest/v1/console', 'null]')`)
    await page.reload()
    await enterKey(page, await keyOf(service))
    await page.getByRole('cell', { name: 'Gilgi' }).waitFor()
    await page.addInitScript(`
      for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get: () => { throw new Error('forbidden') } })`)
    await page.reload()
    await enterKey(page, await keyOf(service))
    await page.getByRole('cell', { name: 'Gilgi' }).waitFor()
    await button(page, 'Columns').click()
    await page.getByLabel('Pages').uncheck()
    await button(page, 'Done').click()
    expect(await page.getByRole('columnheader', { name: 'Pages' }).count()).toBe(0)
  })
})
