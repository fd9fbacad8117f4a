import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { memoryStorage, principal } from '../../src/entries/index.ts'
import { securityCollections } from '../../src/security/collections.ts'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, onScreen, otherHost, overflow, takeRejections } from './desk.ts'
import { button, enterPassword, link, openOffice, openSignedIn } from './office.ts'
import { violations } from './violations.ts'

const evil = '<img src=x onerror="document.title=1">\u202E'

describeConsole('the console of several administrators', (open) => {
  /** Opens the consoles of ada and bob, who are administrators, each in a browser of their own. */
  async function openBoth() {
    const ada = await openSignedIn(open)
    const { service } = ada
    await service.users.add({
      user: 'bob',
      roles: ['Administrator'],
      password: 'his long password',
    })
    const bob = await open(service)
    await enterPassword(bob.page, 'bob', 'his long password')
    return { service, ada, bob }
  }

  test('lets one of two take the role of the other, not both', async () => {
    const { service, ada, bob } = await openBoth()
    for (const [{ page }, other] of [
      [ada, 'bob'],
      [bob, 'ada'],
    ] as const) {
      await page.goto(page.url().replace(/#.*|$/, `#/users/${other}`))
      await page.getByLabel('Administrator').uncheck()
    }
    await button(ada.page, 'Save').click()
    await ada.page.getByText('Saved.').waitFor()
    await button(bob.page, 'Save').click()
    await bob.page.getByRole('alert').waitFor()
    await keepScreenshot(bob.page, 'console-demoted')
    takeRejections(bob.problems, 403)
    expect(await service.users.get('ada')).toMatchObject({
      roles: expect.arrayContaining(['Administrator']) as unknown,
    })
  })

  test('does not overwrite what the other has saved meanwhile', async () => {
    const { service, ada, bob } = await openBoth()
    await service.users.add({ user: 'maria', roles: ['Sales'] })
    for (const { page } of [ada, bob]) {
      await page.goto(page.url().replace(/#.*|$/, '#/users/maria'))
      await page.getByLabel('Sales').waitFor()
    }
    await ada.page.getByLabel('Sales').uncheck()
    await button(ada.page, 'Save').click()
    await ada.page.getByText('Saved.').waitFor()
    await bob.page.getByLabel('Deployment').check()
    await button(bob.page, 'Save').click()
    await button(bob.page, 'Load the stored version').click()
    takeRejections(bob.problems, 412)
    await expect.poll(() => bob.page.getByLabel('Sales').isChecked()).toBe(false)
    expect(await service.users.get('maria')).toMatchObject({ roles: [] })
  })

  test('asks for another credential when the key for a session was revoked', async () => {
    const { service, ada, bob } = await openBoth()
    const { key, keyId } = await service.keys.create({ user: 'bob', description: 'of bob' })
    await button(bob.page, 'Sign out').click()
    await bob.page.getByRole('radio', { name: 'API key' }).check()
    await bob.page.locator('[name=secret]').fill(key)
    await bob.page.keyboard.press('Enter')
    await link(bob.page, 'Users').click()
    await bob.page.getByRole('link', { name: 'New user' }).click()
    await bob.page.getByLabel('User', { exact: true }).fill('maria')
    await link(ada.page, 'Keys').click()
    const row = ada.page.getByRole('row').filter({ hasText: 'of bob' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    const question = ada.page.getByRole('dialog')
    await question.getByRole('button', { name: 'Revoke' }).waitFor()
    expect(await violations(ada.page)).toEqual([])
    await question.getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await service.keys.list()).find((one) => one.keyId === keyId)?.revoked).toBeTruthy()
    await button(bob.page, 'Add user').click()
    await bob.page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    takeRejections(bob.problems, 401)
    expect(await violations(bob.page)).toEqual([])
    await enterAgain(bob.page, 'bob', 'his long password')
    await onScreen(bob.page, 'maria')
  })

  async function enterAgain(page: Page, user: string, password: string) {
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByRole('radio', { name: /assword/ }).check()
    await dialog.getByLabel('User', { exact: true }).fill(user)
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
  }

  test('does not save for another user who signs in again what the first has entered', async () => {
    const { service, bob } = await openBoth()
    const { page, problems, requests } = bob
    const activeSessions = async () =>
      (await service.keys.list({ user: 'ada' })).filter(({ revoked }) => revoked === null).length
    const before = await activeSessions()
    await page.goto(page.url().replace(/#.*|$/, '#/users/new?new=1'))
    await page.getByLabel('User', { exact: true }).fill('maria')
    await service.users.change('bob', { password: 'a new long password' })
    requests.splice(0)
    await button(page, 'Add user').click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByText('sign in as bob to save it').waitFor()
    await enterAgain(page, 'ada', 'a long password')
    const question = page.getByRole('dialog', { name: 'Go on as ada?' })
    await question.waitFor()
    expect(await violations(page)).toEqual([])
    await keepScreenshot(page, 'console-other-user')
    // The session of the other user ends, and the form is still there.
    await button(page, 'Sign in as bob').click()
    await expect.poll(activeSessions).toBe(before)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await enterAgain(page, 'ada', 'a long password')
    await button(page, 'Discard and go on').click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('so nothing of the one before was saved').waitFor()
    await page.getByLabel('User', { exact: true }).waitFor()
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('')
    expect(await service.users.get('maria')).toBeUndefined()
    expect(requests.filter((line) => line === 'POST svc-admin/users')).toHaveLength(1)
    expect(await page.locator('.account').innerText()).toContain('ada')
    takeRejections(problems, 401)
  })

  test('revokes the session of a sign-in that ends after its form was closed', async () => {
    const { service, bob } = await openBoth()
    const { page, problems } = bob
    const sessions = async () =>
      (await service.keys.list({ user: 'ada' })).map(({ revoked }) => revoked === null)
    const before = await sessions()
    await page.goto(page.url().replace(/#.*|$/, '#/users/new?new=1'))
    await page.getByLabel('User', { exact: true }).fill('maria')
    await service.users.change('bob', { password: 'a new long password' })
    await button(page, 'Add user').click()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/svc-admin/sessions', async (route) => {
      await held
      await route.continue()
    })
    await enterAgain(page, 'ada', 'a long password')
    await button(page, 'Signing in…').waitFor()
    await button(page, 'Not now').click()
    await page.getByText('You are signed out.').waitFor()
    // The form of a second request stays open when the first sign-in ends.
    await button(page, 'Add user').click()
    release()
    await expect.poll(sessions).toEqual([...before, false])
    await page.unroute('**/svc-admin/sessions')
    expect(await page.locator('.account').innerText()).toContain('bob')
    await enterAgain(page, 'bob', 'a new long password')
    await onScreen(page, 'maria')
    takeRejections(problems, 401, 401)
  })

  test('does not repeat a deletion for another user who signs in again', async () => {
    const { service, bob } = await openBoth()
    const { page, problems } = bob
    await service.users.add({ user: 'maria' })
    const { keyId } = await service.keys.create({ user: 'maria' })
    await link(page, 'Keys').click()
    await button(page, 'Revoke').waitFor()
    await service.users.change('bob', { password: 'a new long password' })
    await button(page, 'Revoke').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await enterAgain(page, 'ada', 'a long password')
    await page.getByText('so nothing').waitFor()
    await page.getByRole('cell', { name: 'maria' }).waitFor()
    const [key] = await service.keys.list({ user: 'maria' })
    expect(key).toMatchObject({ keyId, revoked: null })
    takeRejections(problems, 401)
  })

  test('asks before signing out loses what was entered', async () => {
    const { page } = await openSignedIn(open)
    await page.goto(page.url().replace(/#.*|$/, '#/users/new?new=1'))
    await page.getByLabel('User', { exact: true }).fill('maria')
    await button(page, 'Sign out').click()
    await page.getByText('What you have entered has not been saved.').waitFor()
    await button(page, 'Keep editing').click()
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('maria')
    await button(page, 'Sign out').click()
    await button(page, 'Discard').click()
    await page.getByLabel('Password', { exact: true }).waitFor()
  })

  test('confirms warnings of a delete: the own account', async () => {
    const { service, bob } = await openBoth()
    const { page, problems } = bob
    await page.goto(page.url().replace(/#.*|$/, '#/users/bob'))
    await button(page, 'Remove user').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove user' }).click()
    await page.getByRole('dialog').getByText('You are removing your own account.').waitFor()
    expect(await violations(page)).toEqual([])
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Confirm/ })
      .click()
    await expect.poll(() => service.users.get('bob')).toBeUndefined()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    problems.splice(0)
  })
})

describeConsole('keys in the console', (open) => {
  test('says that the response was lost while a key was created, and repeats nothing', async () => {
    const { page, service, problems, requests } = await openSignedIn(open)
    await page.route(/svc-admin\/keys$/, async (route) => {
      // The service has created the key, and the response does not arrive.
      await route.fetch()
      await route.abort()
    })
    await page.goto(page.url().replace(/#.*|$/, '#/keys/new'))
    await page.getByLabel('User', { exact: true }).fill('ada')
    await page.getByLabel('description').fill('lost')
    requests.splice(0)
    await button(page, 'Create key').click()
    await page
      .getByRole('alert')
      .getByText(/The response was lost/)
      .waitFor()
    await keepScreenshot(page, 'console-key-lost')
    expect(problems.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')])
    expect(requests.filter((line) => line.startsWith('POST'))).toHaveLength(1)
    expect(
      (await service.keys.list()).filter(({ description }) => description === 'lost'),
    ).toHaveLength(1)
    expect(await page.getByLabel('description').inputValue()).toBe('lost')
  })

  test.each([
    ['the browser forbids it', '127.0.0.1'],
    ['the page is not secure', otherHost],
  ])('selects a new key that cannot be copied because %s', async (_, host) => {
    const { service } = await openOffice()
    const { page } = await open(service, { host })
    await page.addInitScript(
      `if (navigator.clipboard) navigator.clipboard.writeText = () => Promise.reject(new Error('no'))`,
    )
    await page.reload()
    await enterPassword(page, 'ada', 'a long password')
    await page.goto(page.url().replace(/#.*|$/, '#/keys/new'))
    await page.getByLabel('User', { exact: true }).fill('ada')
    await button(page, 'Create key').click()
    const key = await page.getByRole('dialog').getByLabel('Key').inputValue()
    await button(page, 'Copy').click()
    await page.getByText('Copy the selected key yourself.').waitFor()
    expect(await page.evaluate('getSelection().toString()')).toBe(key)
    expect(await violations(page)).toEqual([])
  })

  test('shows 10,000 keys page by page, with one request each', async () => {
    const storage = memoryStorage()
    const office = await openOffice(storage)
    const { keyId: first } = await office.service.keys.create({ user: 'ada' })
    const one = (await office.service.keys.list()).find(({ keyId }) => keyId === first)
    await storage.transaction({ mode: 'write', brief: true }, async (on) => {
      for (let count = 1; count < 10_000; count++) {
        const number = String(count).padStart(5, '0')
        await on.insert(securityCollections.keys, {
          ...one,
          ...{ hash: number, description: `number ${number}`, purpose: null },
          keyId: `019cb7a0-0000-7000-8000-0000000${number}`,
        })
      }
    })
    const { page, requests } = await open(office.service)
    await enterPassword(page, 'ada', 'a long password')
    await link(page, 'Keys').click()
    await page.getByText('1–25 of 10,000').waitFor()
    requests.splice(0)
    await button(page, 'Next').click()
    await page.getByText('26–50 of 10,000').waitFor()
    await page.getByRole('searchbox').fill('number 09999')
    await page.getByRole('cell', { name: 'number 09999' }).waitFor()
    expect(requests.map((line) => line.replace(/\?.*/, ''))).toEqual(
      Array(2).fill('GET svc-admin/keys'),
    )
  })
})

describeConsole('hostile values', (open) => {
  test('are shown as text in every part for administrators', async () => {
    const { service, outbox, ...office } = await openOffice()
    await service.users.add({ user: `maria ${evil}`, roles: ['Sales', evil] })
    await service.keys.create({ user: `maria ${evil}`, description: evil })
    await office.order(evil)
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    await service
      .as(principal('maria', { roles: ['Deployment'] }))
      .collection('svc-deploy', 'release-queue')
      .insert({ solutionId: 'shop', version: '9', releaseNotes: evil })
    const { page } = await open(service)
    await enterPassword(page, 'ada', 'a long password')
    const root = page.url().replace(/#.*/, '')
    const names = ['users', 'keys', 'audit', 'releases', 'outbox', 'service']
    const user = encodeURIComponent(`maria ${evil}`)
    for (const name of [...names, `users/${user}`, 'users/new?new=1', 'data/shop/orders']) {
      await page.goto(`${root}#/${name}`)
      await page.locator('table, form, .empty, .charts').first().waitFor()
      await page.waitForTimeout(200)
      expect([name, await page.locator('img').count(), await overflow(page)]).toEqual([name, 0, 0])
      expect(await page.evaluate<string>('document.body.innerText')).not.toContain('\u202E')
      expect(await page.title()).not.toBe('1')
    }
    await page.goto(`${root}#/keys`)
    await page
      .getByRole('row')
      .filter({ hasText: 'onerror' })
      .getByRole('button', { name: 'Rotate' })
      .click()
    await page
      .getByRole('dialog')
      .getByText(/onerror/)
      .waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.evaluate<string>('document.body.innerText')).not.toContain('\u202E')
    expect(await violations(page)).toEqual([])
    await keepScreenshot(page, 'console-hostile-administration')
  })
})
