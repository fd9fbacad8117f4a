import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder, startNorthwind, type RunningNorthwind } from './northwind-process.ts'
import { startExample } from '../kit/process.ts'

const data = newFolder()
let example: RunningNorthwind

beforeAll(async () => {
  // The state after a first start that was killed.
  writeFileSync(join(data, 'northwind.db.unfinished'), 'half a database')
  example = await startNorthwind(data)
})

afterAll(async () => {
  await example.ended('SIGTERM')
  rmSync(data, { recursive: true })
})

test('the first start builds the database and prints lines for a shell', () => {
  expect(example.output()).toContain('Built ')
  expect(example.lines).toBe(28)
  expect(readdirSync(data)).toContain('northwind.db')
  expect(readdirSync(data)).not.toContain('northwind.db.unfinished')
})

test('a page has ten customers with four fields, and no count', async () => {
  const { items = [], ...rest } = await example.answer('a list')
  const names = ['customerId', 'companyName', 'contactName', 'contactTitle']
  expect(items.map((item) => Object.keys(item))).toEqual(Array.from({ length: 10 }, () => names))
  expect(rest).toEqual({ count: null, message: null, validations: [], status: 200 })
})

test('the search ignores case', async () => {
  const { items } = await example.answer('a search')
  expect(items).toMatchObject([{ productId: 34, productName: 'Marinated Herring, Dill' }])
})

test('count, limit, sort and fields work together', async () => {
  const { items = [], count } = await example.answer(
    'the last five by name with all fields, counted',
  )
  expect(count).toBe(91)
  expect(items.map((item) => item['customerId'])).toEqual([
    'YOSHI',
    'GALME',
    'DALBI',
    'AOITO',
    'SAKUR',
  ])
  expect(Object.keys(items[0] ?? {})).toHaveLength(10)
  expect(Object.keys(items[0] ?? {}).at(-1)).toBe('country')
})

test('a composite key names one order detail', async () => {
  const { item } = await example.answer('an item with a composite key')
  const price = { unitPrice: '19.9000', quantity: 5, discount: '0.00' }
  expect(item).toEqual({ orderId: 10248, productId: 11, ...price })
})

test('a contact name of more than 30 characters is rejected', async () => {
  const { message, validations } = await example.answer('a value that is too long')
  expect(message).toBe('The changes could not be saved.')
  expect(validations).toMatchObject([{ severity: 'error', field: 'contactName' }])
})

test('a warning is confirmed with the printed id, and the line can be removed', async () => {
  const { validations, status } = await example.answer('a warning: not enough in stock')
  expect(status).toBe(400)
  expect(validations).toMatchObject([{ severity: 'warning', field: 'quantity' }])
  expect(example.line('the same again, confirmed')).toContain(
    JSON.stringify(validations[0]?.['validationId']),
  )

  const confirmed = await example.answer('the same again, confirmed')
  expect(confirmed.item).toMatchObject({ unitPrice: '29.1000', quantity: 5 })
  expect(confirmed.validations).toMatchObject([{ severity: 'information' }])

  const taken = await example.answer('and taken back')
  expect(taken.item).toEqual(confirmed.item)
})

test('a port in use is reported in one sentence', async () => {
  const port = /localhost:(\d+)/.exec(example.output())?.[1] ?? ''
  const second = startExample('northwind/main.ts', { DATA: data, PORT: port })
  const { code, output } = await second.ended()
  expect(output).toBe(
    `Port ${port} is taken. Choose another one: PORT=${Number(port) + 1} npm start\n`,
  )
  expect(code).toBe(1)
})

test('a signal stops it gracefully, and the next start uses the same file', async () => {
  const { code } = await example.ended('SIGINT')
  expect(code).toBe(0)
  expect(readdirSync(data)).toEqual(['northwind.db'])
  const { ino } = statSync(join(data, 'northwind.db'))

  const warningId = /-Warnings: ("\w+")/.exec(example.output())?.[1] ?? 'none'
  example = await startNorthwind(data)
  expect(example.output()).not.toContain('Built ')
  expect(example.line('the same again, confirmed')).toContain(warningId)
  expect(statSync(join(data, 'northwind.db')).ino).toBe(ino)
})
