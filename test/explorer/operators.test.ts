import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineCollection, integer, principal, text } from '../../src/entries/index.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { openapi } from '../../src/entries/openapi.ts'
import { missingBrowser, openPage, startBrowser } from '../kit/browser.ts'
import { openServer } from '../kit/server.ts'
import { openService } from '../kit/stage.ts'

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: integer(), status: text() },
  operators: { orderId: ['gte'], status: ['in'] },
})

describe.skipIf(missingBrowser() !== undefined)('the explorer in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test('sends operators, and repeats the parameter of a list', { timeout: 60_000 }, async () => {
    const { service } = openService({
      applications: { sales: { collections: { orders } } },
      pages: { openapi: openapi({ title: 'Sales' }), explorer: explorer({ document: 'openapi' }) },
    })
    const targets: string[] = []
    const handler = toNodeHandler(service)
    const { url, close } = await openServer(
      createServer((request, response) => {
        targets.push(request.url ?? '')
        handler(request, response)
      }),
    )
    const { page, problems } = await openPage(browser)
    await page.goto(`${url}/rest/v1/explorer`)
    await page.getByRole('button', { name: 'List orders' }).click()
    const list = page.locator('tr[data-param-name="status.in"]')
    const add = list.getByRole('button', { name: 'Add string item' })
    await add.click()
    await list.locator('input').first().fill('open')
    await add.click()
    await list.locator('input').last().fill('a,b')
    await page.locator('tr[data-param-name="orderId.gte"] input').fill('2')
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.locator('.live-responses-table .response').waitFor()
    expect(targets.at(-1)).toBe(
      '/rest/v1/sales/orders?orderId.gte=2&status.in=open&status.in=a%2Cb',
    )
    expect(problems).toEqual([])
    await page.context().close()
    await close()
  })

  test('offers the keys of items that a parameter refers to', { timeout: 60_000 }, async () => {
    const customers = defineCollection({
      key: 'customerId',
      titleField: 'companyName',
      fields: { customerId: text(), companyName: text() },
    })
    const references = { customerId: text({ references: 'customers' }) }
    const bills = defineCollection({ key: 'billId', fields: { billId: integer(), ...references } })
    const { service } = openService({
      applications: { sales: { collections: { customers, bills } } },
      pages: { openapi: openapi({ title: 'Sales' }), explorer: explorer({ document: 'openapi' }) },
    })
    const stored = service.as(principal('test')).collection('sales', 'customers')
    for (const [customerId, companyName] of [
      ['ALFKI', 'Alfheim Futterhof'],
      ['BLAUS', 'Blauer See'],
    ] as const)
      await stored.insert({ customerId, companyName })
    const { url, close } = await openServer(createServer(toNodeHandler(service)))
    const { page, problems } = await openPage(browser)
    await page.goto(`${url}/rest/v1/explorer`)
    await page.getByRole('button', { name: 'List bills' }).click()
    const input = page.locator('tr[data-param-name="customerId"] input')
    const choices = (): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelector('tr[data-param-name="customerId"] input').list.options].map((option) => [option.value, option.label])`,
      )
    await input.focus()
    await expect.poll(choices).toEqual([
      ['ALFKI', 'Alfheim Futterhof'],
      ['BLAUS', 'Blauer See'],
    ])
    await input.fill('blauer')
    await expect.poll(choices).toEqual([['BLAUS', 'Blauer See']])
    await input.fill('BLAUS')
    const [request] = await Promise.all([
      page.waitForRequest(/sales\/bills/),
      page.getByRole('button', { name: 'Execute' }).click(),
    ])
    expect(new URL(request.url()).search).toBe('?customerId=BLAUS')
    expect(problems).toEqual([])
    await page.context().close()
    await close()
    await service.close()
  })
})
