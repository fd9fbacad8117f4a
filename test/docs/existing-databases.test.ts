import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runAlone } from '../cli/command-line.ts'
import { startServing } from '../cli/serving-line.ts'
import { foreignTool } from '../introspection/foreign-database.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { blockTexts } from './blocks.ts'

const blocks = (language: string) => blockTexts('docs/guides/existing-databases.md', language)

const [first = '', request = '', again = ''] = blocks('sh')
const [introspect = '', serve = ''] = first.trim().split('\n').map(argumentsOf)

function argumentsOf(line: string): string {
  return line.replace('npx rowgate ', '')
}

function shop() {
  const folder = temporaryFolder()
  const file = join(folder, 'shop.db')
  foreignTool.execute(file, blocks('sql').join('\n'))
  return {
    run: (line: string) => runAlone(line.trim().split(' '), { workingFolder: folder }),
    text: (name: string) => readFileSync(join(folder, name), 'utf8'),
    execute: (sql: string) => {
      foreignTool.execute(file, sql)
    },
    folder,
  }
}

test('the database of the page has the definition of the page', async () => {
  const { run, text } = shop()
  expect((await run(introspect)).code).toBe(0)
  expect(text('shop.ts')).toBe(blocks('ts')[0])
})

test('the request of the page has its response', async () => {
  const { run, folder } = shop()
  // Node 20 loads no TypeScript.
  await run(introspect.replace('shop.ts', 'shop.json'))
  const [, ...line] = serve.replace('shop.ts', 'shop.json').split(' ')
  const { url, key = '', stop } = await startServing(folder, ...line)
  onTestFinished(async () => {
    await stop()
  })
  const [, target = ''] = /'http:\/\/127\.0\.0\.1:8080(.*)'/.exec(request) ?? []
  const response = await fetch(`${url}${target}`, { headers: { 'X-API-Key': key } })
  expect(await response.json()).toEqual(JSON.parse(blocks('json')[0] ?? ''))
})

test('the changes of the page are listed as on the page', async () => {
  const { run, execute } = shop()
  const toJson = (line: string): string => argumentsOf(line).replace('shop.ts', 'shop.json')
  await run(toJson(again))
  execute(`
    ALTER TABLE Customers ADD COLUMN Fax TEXT;
    UPDATE Orders SET Freight = 0.12345;
    CREATE TABLE Regions (RegionID INTEGER PRIMARY KEY);
  `)
  const { code, output } = await run(toJson(again))
  expect(code).toBe(1)
  expect(output).toBe(blocks('text')[0])
})
