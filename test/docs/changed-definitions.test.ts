import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAlone } from '../cli/command-line.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { blockTexts } from './blocks.ts'
import { runStatements } from '../storage/sqlite/raw.ts'

const blocks = (language: string) => blockTexts('docs/guides/changed-definitions.md', language)

function openFolder(definition: string, statements: string) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'shop.json'), definition)
  runStatements(join(folder, 'shop.db'), statements)
  return (line: string) =>
    runAlone(line.trim().replace('npx rowgate ', '').split(' '), { workingFolder: folder })
}

test('the commands of the page print what the page shows', async () => {
  const fields = { customerId: { type: 'text' }, city: { type: 'text' } }
  const customers = { key: 'customerId', fields }
  const run = openFolder(
    JSON.stringify({ shop: { collections: { customers } } }),
    'CREATE TABLE customers (customerId TEXT PRIMARY KEY)',
  )
  const [diff = '', apply = ''] = blocks('sh')
  const outputs = [await run(diff), await run(apply)].map(({ output }) => output)
  expect(outputs).toEqual(blocks('text'))
})

test('what the definition of the page leaves to the database stays', async () => {
  const run = openFolder(
    blocks('json')[0] ?? '',
    `CREATE TABLE customers (id INTEGER PRIMARY KEY);
     CREATE TABLE orders (order_id INTEGER PRIMARY KEY, invoice BLOB,
       customer_id INTEGER REFERENCES customers ON DELETE SET DEFAULT)`,
  )
  const { output } = await run('schema apply shop.json --storage shop.db --allow drop')
  expect(output).toBe('Made 0 changes of shop.db.\n')
})

test('the definition of the page renames the table and the column', async () => {
  const run = openFolder(
    blocks('json')[1] ?? '',
    'CREATE TABLE clients (customerId TEXT PRIMARY KEY, title TEXT)',
  )
  const { output } = await run('schema apply shop.json --storage shop.db --allow rename')
  expect(output).toContain('Renames the table "clients" to "customers".\n')
  expect(output).toContain('Renames the column "title" of the table "customers" to "name".\n')
})
