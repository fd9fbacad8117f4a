import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPackage } from '../../src/deployment/package/read-package.ts'
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
