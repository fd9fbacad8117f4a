import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineCollection, integer, principal, system, text } from '../../src/entries/index.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { openapi } from '../../src/entries/openapi.ts'
import { keepScreenshot, describeInBrowser, openPage, startBrowser } from '../kit/browser.ts'
import { openServer } from '../kit/server.ts'
import { openService } from '../kit/stage.ts'

const customers = defineCollection({
  key: 'customerId',
  fields: { customerId: text(), name: text() },
})
const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: integer(), status: text(), customerId: text({ references: 'customers' }) },
  operators: { orderId: ['gte'], status: ['in'] },
  expand: { customer: 'customerId', lines: { from: 'lines', limit: 2 } },
})
const lines = defineCollection({
  key: ['orderId', 'lineNo'],
  fields: { orderId: integer({ references: 'orders' }), lineNo: integer(), product: text() },
})

describeInBrowser('the explorer in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test(
    'sends operators, repeats the parameter of a list, and shows related items',
    { timeout: 60_000 },
    async () => {
      const { service } = openService({
        applications: { sales: { collections: { customers, orders, lines } } },
        pages: {
          openapi: openapi({ title: 'Sales' }),
          explorer: explorer({ document: 'openapi' }),
        },
      })
      const own = service.as(system)
      await own.collection('sales', 'customers').insert({ customerId: 'ALFKI', name: 'Alfreds' })
      await own
        .collection('sales', 'orders')
        .insert({ orderId: 7, status: 'a,b', customerId: 'ALFKI' })
      await own
        .collection('sales', 'lines')
        .insertMany([1, 2, 3].map((lineNo) => ({ orderId: 7, lineNo, product: `Part ${lineNo}` })))
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
      await page.locator('tr[data-param-name="$expand"] select').selectOption(['customer', 'lines'])
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.locator('.live-responses-table .response').waitFor()
      expect(targets.at(-1)).toBe(
        '/rest/v1/sales/orders?orderId.gte=2&status.in=open&status.in=a%2Cb&%24expand=customer,lines',
      )
      const shown = page.locator('.live-responses-table .response')
      for (const text of ['"name": "Alfreds"', '"product": "Part 2"', '"more": true'])
        expect(await shown.innerText()).toContain(text)
      await shown.scrollIntoViewIfNeeded()
      await keepScreenshot(page, 'explorer-expand')
      expect(problems).toEqual([])
      await page.context().close()
      await close()
    },
  )

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
      ['CENTC', 'Comercio\u202e'],
      ['D\u202e', 'A key that a browser shows reversed'],
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
      ['CENTC', 'Comercio\\u202e'],
    ])
    await input.fill('blauer')
    await expect.poll(choices).toEqual([['BLAUS', 'Blauer See']])
    await input.fill('BLAUS')
    const [request] = await Promise.all([
      page.waitForRequest(/sales\/bills/),
      page.getByRole('button', { name: 'Execute' }).click(),
    ])
    expect(new URL(request.url()).search).toBe('?customerId=BLAUS')
    // The choices go with the input.
    const lists = () => page.locator('datalist').count()
    expect(await lists()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'List bills' }).click()
    await expect.poll(lists).toBe(0)
    expect(problems).toEqual([])
    await page.context().close()
    await close()
    await service.close()
  })
})
