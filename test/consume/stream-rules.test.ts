import { expect, onTestFinished, test } from 'vitest'
import {
  applyRules,
  connection,
  endpoint,
  readElements,
  readStream,
  rule,
  typed,
  type ActingUser,
  type TargetCollections,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { openStorage, storages } from '../kit/storages.ts'
import { startServer } from './server.ts'

type Product = { readonly no: number; readonly name: string }

const size = 100
const batchSize = 40

type Target = ActingUser | TargetCollections

/** Opens a shop that imports products from a service, which may cut its response off. */
async function open(on: (typeof storages)[number]) {
  const state = { isCutOff: true }
  const server = await startServer((_request, response) => {
    const data = Array.from({ length: size }, (_, no) => ({ no, name: `product ${no}` }))
    const text = JSON.stringify({ data })
    response.setHeader('content-type', 'application/json')
    // Its length is that of what is sent, so only parsing notices the missing end.
    response.end(state.isCutOff ? text.slice(0, -20) : text)
  })
  onTestFinished(() => server.close())
  const listProducts = endpoint(
    connection({
      baseUrl: server.url,
      attempts: 1,
      allowHttp: true,
      allowPrivateAddresses: ['127.0.0.1'],
    }),
    {
      name: 'list-products',
      path: '/products',
      response: typed<{ readonly data: readonly Product[] }>(),
    },
  )
  const products = defineCollection({ key: 'no', fields: { no: integer(), name: text() } })
  const rules = [
    rule(listProducts, {
      from: 'data',
      into: products,
      upsertBy: ['no'],
      set: { no: 'no', name: 'name' },
    }),
  ]
  const service = createService({
    applications: { shop: { collections: { products } } },
    storage: openStorage(on),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const user = service.as(principal('import'))
  const actions: string[] = []
  const storeBatches = async (target: Target, body: AsyncIterable<Uint8Array>) => {
    let data: Product[] = []
    const store = async () => {
      const results = await applyRules(target, rules, { data })
      actions.push(...results.map(({ action }) => action))
      data = []
    }
    for await (const element of readElements(body, { items: 'data' })) {
      data.push(element as Product)
      if (data.length === batchSize) await store()
    }
    await store()
  }
  const inBatches = () => readStream(listProducts, {}, ({ body }) => storeBatches(user, body))
  const asWhole = () =>
    readStream(listProducts, {}, ({ body }) =>
      user.transaction((within) => storeBatches(within, body)),
    )
  const stored = async () =>
    (await user.collection('shop', 'products').filter({}, { count: true, limit: 0 })).count
  return { state, user, inBatches, asWhole, actions, stored }
}

test.each(storages)('an import in batches on $name can be repeated', async (on) => {
  const { state, inBatches, actions, stored } = await open(on)
  await expect(inBatches()).rejects.toThrow()
  expect(await stored()).toBe(2 * batchSize)
  state.isCutOff = false
  actions.length = 0
  await inBatches()
  expect(await stored()).toBe(size)
  expect(actions.filter((action) => action === 'unchanged')).toHaveLength(2 * batchSize)
  expect(actions.filter((action) => action === 'insert')).toHaveLength(size - 2 * batchSize)
})

test.each(storages)('an import in one transaction on $name is all or nothing', async (on) => {
  const { state, asWhole, stored } = await open(on)
  await expect(asWhole()).rejects.toThrow()
  expect(await stored()).toBe(0)
  state.isCutOff = false
  await asWhole()
  expect(await stored()).toBe(size)
})

test.each(storages)('a stream that is opened in a transaction on $name is rejected', async (on) => {
  const { user, inBatches } = await open(on)
  const within = user.transaction(() => inBatches())
  await expect(within).rejects.toMatchObject({ code: 'IN_TRANSACTION', endpoint: 'list-products' })
})
