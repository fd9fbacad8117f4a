import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, onScreen, overflow, takeRejections } from './desk.ts'
import { button, link, openSignedIn } from './office.ts'
import { violations } from './violations.ts'

// test/console/people.test.ts has those of data: columns, export and picker.
describeConsole('the dialogs of the console', (open) => {
  test.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 400, height: 800 } }],
  ] as const)('are accessible, %s', async (look, options) => {
    const { page, order, outbox, service, problems } = await openSignedIn(open, options)
    await service.users.add({ user: 'maria' })
    await service.keys.create({ user: 'maria', description: 'the laptop' })
    await order('A7')
    await expect.poll(async () => (await outbox.list())[0]?.state).toBe('dead')
    const root = page.url().replace(/#.*/, '')
    const show = async (screen: string, title: string) => {
      await page.goto(`${root}#/${screen}`)
      await onScreen(page, title)
    }
    const check = async (name: string) => {
      const dialog = page.getByRole('dialog', { name }).last()
      await dialog.waitFor()
      expect([name, await violations(page), await overflow(page)]).toEqual([name, [], 0])
      expect([name, await isInside(page)]).toEqual([name, true])
      await keepScreenshot(page, `console-${look}-dialog-${name.replace(/\W+/g, '-')}`)
      return dialog
    }

    await show('keys', 'Keys')
    await button(page, 'Revoke').click()
    await check('Revoke the key of maria?')
    await page.keyboard.press('Escape')
    await button(page, 'Rotate').click()
    const rotation = await check('Rotate the key')
    await rotation.getByRole('button', { name: 'Rotate' }).click()
    await check('The new key')
    await page.keyboard.press('Escape')
    const question = await check('Close without copying?')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
    await question.getByRole('button', { name: 'Close' }).click()

    await show('item/shop/orders/A7', 'A7')
    await button(page, 'Delete').click()
    await check('Delete the item?')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
    await page.keyboard.press('Escape')

    await show('outbox', 'Outbox')
    await button(page, 'Drop').click()
    await check('Drop the delivery?')
    await page.keyboard.press('Escape')

    await show('users/ada', 'ada')
    await page.getByLabel('enabled').selectOption('no')
    await button(page, 'Save').click()
    await check('Confirm the warning?')
    takeRejections(problems, 400)
    await page.keyboard.press('Escape')
    await button(page, 'Remove user').click()
    await check('Remove the user?')
    await page.keyboard.press('Escape')
    if (look === 'narrow') await button(page, 'Menu').click()
    await link(page, 'Keys').click()
    await check('Discard your changes?')
    await page.keyboard.press('Escape')

    await service.users.change('ada', { password: 'a new long password' })
    await button(page, 'Save').click()
    await check('Sign in again')
    takeRejections(problems, 401)
  })
})

/** Returns whether the focus is in a dialog. */
function isInside(page: Page): Promise<boolean> {
  return page.evaluate('document.activeElement.closest("dialog") !== null')
}
