import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { people } from '../../examples/northwind/people.ts'
import { seedNorthwind } from '../../examples/northwind/seed.ts'
import { createNorthwind, createReleases } from '../../examples/northwind/service.ts'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, enterKey, onScreen } from './desk.ts'

describeConsole('the console of the sample', (open) => {
  test('shows the products of a category', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'northwind-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'northwind.db')
    await seedNorthwind(file)
    const service = createNorthwind(file, createReleases(0), { AllowInsecureHttp: true })
    await service.ready()
    const { user, ...olivia } = people.KEY
    await service.users.ensure({ user, ...olivia })
    const { key } = await service.keys.create({ user })
    const { page } = await open(service, {
      hash: '#/data/sales/products?.categoryId=1&sort=-unitPrice&size=10',
      viewport: { width: 1180, height: 640 },
    })
    await enterKey(page, key)
    await onScreen(page, 'products')
    await page.getByRole('link', { name: /^\d+$/ }).first().waitFor()
    // The picture of README.md, which has fewer colors.
    await keepScreenshot(page, 'console-sample')
    const prices = await page.locator('tbody tr td:nth-child(4)').allInnerTexts()
    expect(prices.length).toBeGreaterThan(3)
  })
})
