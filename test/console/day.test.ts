import { expect, test } from 'vitest'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, onScreen, takeRejections } from './desk.ts'
import { button, link, openSignedIn } from './office.ts'

describeConsole('a day of an administrator', (open) => {
  test('leaves an audit trail that names who did what', async () => {
    const { page, problems, state, order, outbox } = await openSignedIn(open)
    const within = (role: 'dialog') => page.getByRole(role)

    // A user, with a key that is revoked again.
    await link(page, 'Users').click()
    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('Sales').check()
    await button(page, 'Add user').click()
    await onScreen(page, 'maria')
    await link(page, 'Keys').click()
    await page.getByRole('link', { name: 'New key' }).click()
    await page.getByLabel('User', { exact: true }).fill('maria')
    await page.getByLabel('description').fill('the laptop')
    await button(page, 'Create key').click()
    await within('dialog').getByLabel('Key').waitFor()
    await button(page, 'Done').click()
    await button(page, 'Close').click()
    await page
      .getByRole('row')
      .filter({ hasText: 'the laptop' })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await within('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('cell', { name: 'the laptop' }).waitFor({ state: 'detached' })

    // A release that fails, and one that is built.
    for (const [version, isBroken] of [
      ['1.1', true],
      ['1.2', false],
    ] as const) {
      state.isBuildBroken = isBroken
      await link(page, 'Releases').click()
      await page.getByRole('link', { name: 'New build' }).click()
      await page.getByLabel('Solution ID').selectOption('Shop')
      await page.getByLabel('version').fill(version)
      await button(page, 'Build').click()
      if (isBroken) await page.getByText('The builder has failed.').waitFor()
      else await button(page, 'Download the package').waitFor()
    }

    // An item that is corrected in spite of a warning.
    await order('A7')
    await link(page, 'orders').click()
    await page.getByRole('link', { name: 'A7' }).click()
    await page.getByLabel('note').fill('urgent')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    await page.getByLabel('note').fill('')
    await button(page, 'Save').click()
    await within('dialog').getByText('The order has no note.').waitFor()
    await keepScreenshot(page, 'console-day-warning')
    await button(page, 'Confirm and save').click()
    await within('dialog').waitFor({ state: 'detached' })
    takeRejections(problems, 400)

    // A dead delivery that is sent again.
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    await link(page, 'Outbox').click()
    await page.locator('td a').first().click()
    await page.getByText('A7').first().waitFor()
    state.isMailUp = true
    await button(page, 'Retry').click()
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('delivered')

    // The audit trail.
    await link(page, 'Audit trail').click()
    await page.getByRole('row').filter({ hasText: 'maria' }).first().waitFor()
    await keepScreenshot(page, 'console-day-audit')
    const shown = await page.getByRole('row').allInnerTexts()
    expect(shown.filter((text) => text.includes('maria') && text.includes('ada')).length).toBe(3)
  })
})
