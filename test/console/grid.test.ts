import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { keepScreenshot } from '../kit/browser.ts'
import { describeConsole, fill, onScreen, openDesk, type OpenPage } from './desk.ts'

const books = '#/data/desk/books'

async function openBooks(open: OpenPage, count = 0) {
  const service = openDesk()
  await fill(service)
  const shelf = service.as(principal('test')).collection('desk', 'books')
  for (let number = 1; number <= count; number++)
    await shelf.insert({ title: `Volume ${number}`, author: null, price: `${number % 90}.00` })
  const opened = await open(service, { hash: books })
  await cell(opened.page, 'Gilgi').waitFor()
  return { ...opened, service }
}

const cell = (page: Page, name: string) => page.getByRole('cell', { name, exact: true })
const titles = async (page: Page) =>
  (await page.locator('tbody tr td:nth-child(2)').allInnerTexts()).map((text) =>
    text.replace(/\s*=$/, ''),
  )
const lists = (requests: readonly string[]) =>
  requests.filter((line) => line.includes('desk/books'))

describeConsole('the grid', (open) => {
  test('needs three requests for the page, one for the document and one for its items', async () => {
    const { requests } = await openBooks(open)
    expect(requests.map((line) => line.replace(/\?.*/, ''))).toEqual([
      'GET console',
      'GET console/console.css',
      'GET console/console.js',
      'GET console/document.json',
      'GET desk/books',
    ])
  })

  test('sorts by a column with one request, and keeps the order when it is loaded again', async () => {
    const { page, requests } = await openBooks(open)
    requests.splice(0)
    await page.getByRole('button', { name: 'Price' }).click()
    await expect.poll(() => titles(page)).toEqual(['Gilgi', 'Effi Briest'])
    expect(await page.getByRole('columnheader', { name: 'Price' }).getAttribute('aria-sort')).toBe(
      'ascending',
    )
    await page.getByRole('button', { name: 'Price' }).click()
    await expect.poll(() => titles(page)).toEqual(['Effi Briest', 'Gilgi'])
    expect(lists(requests)).toHaveLength(2)
    await page.reload()
    await expect.poll(() => titles(page)).toEqual(['Effi Briest', 'Gilgi'])
    expect(page.url()).toContain('sort=-price')
  })

  test('filters by the value of a cell, and by a value that is entered', async () => {
    const { page, requests } = await openBooks(open)
    requests.splice(0)
    const author = page.getByRole('cell', { name: /keun/ })
    await author.hover()
    await author.getByTitle('Only items with this author').click()
    await expect.poll(() => titles(page)).toEqual(['Gilgi'])
    expect(lists(requests)).toEqual([expect.stringMatching(/^GET desk\/books\?author=keun&/)])
    await page.getByRole('button', { name: /Author = keun/ }).click()
    await expect.poll(() => titles(page)).toHaveLength(2)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Field').selectOption('published')
    await page.getByRole('button', { name: 'Apply' }).click()
    // Without a value: those that have none.
    await expect.poll(() => titles(page)).toEqual(['Gilgi'])
  })

  test('remembers the chosen columns', async () => {
    const { page } = await openBooks(open)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByLabel('label').check()
    await page.getByLabel('genre').uncheck()
    await keepScreenshot(page, 'console-columns')
    await page.getByRole('button', { name: 'Done' }).click()
    await cell(page, 'EFFI BRIEST').waitFor()
    await page.reload()
    await cell(page, 'EFFI BRIEST').waitFor()
    expect(await page.getByRole('columnheader', { name: 'genre' }).count()).toBe(0)
  })

  test('sends one request for what is typed quickly, and ignores a late response', async () => {
    const { page, requests } = await openBooks(open)
    await page.route(/q=Eff/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue().catch(() => undefined)
    })
    requests.splice(0)
    const search = page.getByLabel('Search books')
    // Keys of Playwright may be slower than the pause on a busy machine.
    await page.evaluate(`for (const text of ['E', 'Ef', 'Eff']) {
      const input = document.querySelector('.search')
      input.value = text
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await page.waitForRequest(/q=Eff/)
    await search.fill('Gil')
    await expect.poll(() => titles(page)).toEqual(['Gilgi'])
    await page.waitForTimeout(500)
    expect(await titles(page)).toEqual(['Gilgi'])
    expect(lists(requests)).toHaveLength(2)
  })

  test('pages by cursor, with one request each', async () => {
    const { page, requests } = await openBooks(open, 30)
    await page.getByText('1–25 of 32').waitFor()
    requests.splice(0)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('26–32 of 32').waitFor()
    expect(lists(requests)).toEqual([expect.stringContaining('$after=')])
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await keepScreenshot(page, 'console-page')
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByText('1–25 of 32').waitFor()
    await page.getByLabel('Items per page').selectOption('50')
    await page.getByText('1–32 of 32').waitFor()
  })

  test('exports all items of the view as CSV, without formulas', async () => {
    const { page, service } = await openBooks(open, 150)
    const shelf = service.as(principal('test')).collection('desk', 'books')
    await shelf.insert({ title: '=HYPERLINK("x")', price: '1.50', pages: -3 })
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('link', { name: 'Download' }).waitFor()
    await keepScreenshot(page, 'console-export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('books.csv')
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines[0]).toBe('\uFEFFbookId,title,author,genre,price,pages,inPrint,published,changed')
    expect(lines).toHaveLength(154)
    expect(lines.at(-1)).toBe(`153,"'=HYPERLINK(""x"")",,novel,1.50,-3,true,,`)
  })

  test('opens the item that a value refers to', async () => {
    const { page } = await openBooks(open)
    await page.getByRole('link', { name: 'keun' }).click()
    await onScreen(page, 'keun · Irmgard Keun')
    await page.goBack()
    await onScreen(page, 'books')
  })

  test('asks for the filters that a collection requires', async () => {
    const { page, requests } = await openBooks(open)
    await page.getByRole('link', { name: 'reports' }).click()
    await page.getByText('Add a filter by Genre to see items.').waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No items match.').waitFor()
    expect(requests.at(-1)).toContain('GET desk/reports?genre=novel&')
  })
})
