import { afterAll, beforeAll, expect, test } from 'vitest'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPackage } from '../../src/deployment/package/read-package.ts'
import { runInShell, startExample } from '../kit/process.ts'
import { newFolder, startNorthwind, type RunningNorthwind } from './northwind-process.ts'

const data = newFolder()
let example: RunningNorthwind

beforeAll(async () => {
  example = await startNorthwind(data)
})

afterAll(async () => {
  await example.ended('SIGTERM')
  rmSync(data, { recursive: true })
})

test('the environment is for those with the role Deployment', async () => {
  expect((await example.answer('the environment')).item).toMatchObject({
    environmentId: 'northwind-sample',
    authenticationType: 'api_key',
  })
  expect(await example.answer('without the role Deployment')).toMatchObject({ status: 403 })
  const withoutKey = example.line('the environment').replace(/ -H .*/, '')
  expect(withoutKey).not.toContain('X-API-Key')
})

test('a release is built at once, and its package holds what the trader publishes', async () => {
  const { item } = await example.answer('a release that is built at once, with its package')
  expect(item).toMatchObject({ status: 'built', fileName: 'Northwind-1.0.zip', snapshot: true })
  const { manifest } = readPackage(Buffer.from(String(item?.['file']), 'base64'))
  expect(manifest.applications['sales']).toContain('order-details')
  expect(manifest.snapshot?.files).toEqual(['snapshot/definitions.json'])
})

test('a release is queued, and the first one can be followed and fetched', async () => {
  const { item: queued } = await example.answer('a release that is queued')
  expect(queued).toMatchObject({ status: 'queued', solutionId: 'northwind' })
  const { item: first } = await example.answer('how far a build is')
  expect(first).toMatchObject({ status: 'built', releaseNotes: 'Built by the first start' })
  const { items = [] } = await example.answer('the releases')
  expect(items.length).toBeGreaterThanOrEqual(2)
  const { item: fetched } = await example.answer('a release with its package')
  expect(fetched).toMatchObject({ releaseId: first?.['releaseId'], fileName: 'Northwind-1.0.zip' })
})

test('a package is installed into a second service, which then publishes the same collections', async () => {
  const [, key = ''] = /^export PIPELINES_KEY=(\S+)$/m.exec(example.output()) ?? []
  const [, url = ''] = /'(http:\/\/localhost:\d+)\//.exec(example.line('the environment')) ?? []
  const second = newFolder()
  const file = join(second, 'northwind.zip')
  const rowgate = (words: string): Promise<string> =>
    runInShell(`ROWGATE_KEY=${key} npm run -s rowgate -- ${words}`)
  await rowgate(`release build --url ${url} --solution northwind --wait --out ${file}`)
  expect(existsSync(file)).toBe(true)
  await rowgate(`install ${file} --folder ${join(second, 'installed')} --without-code --yes`)
  const installed = startExample('installed.ts', { DATA: second, PORT: '0' })
  const [, port] = await installed.printed(/Serving sales at port (\d+)/)
  const [, itsKey = ''] = /^export SECOND_KEY=(\S+)$/m.exec(installed.output()) ?? []
  const address = `-H 'X-API-Key: ${itsKey}' http://127.0.0.1:${port}/rest/v1/sales`
  const customer = `{"customerId":"NEWCO","companyName":"New"}`
  const json = `-H 'Content-Type: application/json'`
  await runInShell(`curl -s ${address}/customers ${json} -d '${customer}'`)
  const page = await runInShell(`curl -s ${address}/customers?\\$count=true`)
  expect(JSON.parse(page)).toMatchObject({ count: 1, items: [{ customerId: 'NEWCO' }] })
  await installed.ended('SIGTERM')
  rmSync(second, { recursive: true })
}, 60_000)
