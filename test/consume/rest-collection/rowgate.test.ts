import { expect, onTestFinished, test } from 'vitest'
import { connection, rowgateCollection } from '../../../src/entries/consume.ts'
import {
  defineCollection,
  error,
  integer,
  system,
  text,
  warning,
} from '../../../src/entries/index.ts'
import { bindings } from '../../kit/cells.ts'
import { openStage } from '../../kit/stage.ts'

const data = {
  key: ['shop', 'sku'],
  fields: {
    shop: text(),
    sku: text(),
    name: text({ required: true }),
    stock: integer({ default: 1 }),
    createdBy: text({ readOnly: true, default: 'import' }),
  },
} as const

const stored = defineCollection(
  { ...data, defaultSort: ['-stock'], pageSize: { default: 2, maximum: 3 } },
  {
    validations: [
      error('stock', {
        field: 'stock',
        check: ({ stock }) => ((stock ?? 0) < 0 ? 'There cannot be less than nothing.' : null),
      }),
      warning('large', { check: ({ stock }) => ((stock ?? 0) > 1000 ? 'That is much.' : null) }),
    ],
  },
)

/** Opens a service, and a second one whose collection is that of the first. */
async function open() {
  const inner = openStage({ products: stored })
  const host = await bindings[0]?.start(inner.service)
  if (host === undefined) throw new Error('There is no binding.')
  onTestFinished(() => host.close())
  const target = connection({
    baseUrl: `http://127.0.0.1:${host.port}`,
    allowHttp: true,
    allowPrivateAddresses: true,
  })
  const options = { connection: target, application: 'app', collection: 'products' } as const
  const products = defineCollection(data, { serve: rowgateCollection(data, options) })
  return { inner, outer: openStage({ products }) }
}

test('a collection of another rowgate service is saved like a local one', async () => {
  const { inner, outer } = await open()
  const access = outer.service.as(system).collection('app', 'products')
  const inserted = await access.insert({ shop: 'b,1', sku: 'x', name: 'Tea' })
  // A comma can't be part of a composite key.
  expect(inserted.rejected).toBe(true)
  const tea = { shop: 'b', sku: 'ä/?', name: 'Tea', stock: 1, createdBy: 'import' }
  expect(await access.insert({ shop: 'b', sku: 'ä/?', name: 'Tea' })).toMatchObject({ item: tea })
  expect(await access.update(['b', 'ä/?'], { stock: null })).toMatchObject({
    item: { ...tea, stock: null },
  })
  expect(await access.get(['b', 'ä/?'])).toEqual({ ...tea, stock: null })
  const again = await outer.client.post('/app/products', { shop: 'b', sku: 'ä/?', name: 'Tea' })
  expect([again.status, again.body.validations[0]?.severity]).toEqual([400, 'error'])
  expect((await outer.client.delete('/app/products/b,%C3%A4%2F%3F')).status).toBe(200)
  expect((await outer.client.delete('/app/products/b,%C3%A4%2F%3F')).status).toBe(404)
  expect([...inner.reports, ...outer.reports]).toEqual([])
})

test('errors and warnings of the other service reject a save with their message and field', async () => {
  const { outer } = await open()
  const post = (stock: number) =>
    outer.client.post('/app/products', { shop: 'b', sku: 'x', name: 'Tea', stock })
  expect((await post(-1)).body.validations).toEqual([
    { message: 'There cannot be less than nothing.', severity: 'error', field: 'stock' },
  ])
  expect((await post(2000)).body.validations).toEqual([
    { message: 'That is much.', severity: 'error' },
  ])
  expect((await outer.client.get('/app/products?$count=true')).body.count).toBe(0)
})

test('pages are complete whatever the page size and the default order of the other service', async () => {
  const { inner, outer } = await open()
  const own = inner.service.as(system).collection('app', 'products')
  for (let index = 0; index < 8; index++)
    await own.insert({ shop: 's', sku: `p${index}`, name: `N${index % 3}`, stock: index })
  const skus = async (query: string) =>
    (await outer.client.get(`/app/products?${query}`)).body.items?.map(({ sku }) => sku)
  expect(await skus('')).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'])
  expect(await skus('$sort=-sku&$limit=4&$offset=3')).toEqual(['p4', 'p3', 'p2', 'p1'])
  expect(await skus('name=N1&$sort=-stock')).toEqual(['p7', 'p4', 'p1'])
  expect(await skus('$q=n2&$sort=name,-sku')).toEqual(['p5', 'p2'])
  const { items } = await outer.service.as(system).collection('app', 'products').filter()
  expect(items).toHaveLength(8)
})
