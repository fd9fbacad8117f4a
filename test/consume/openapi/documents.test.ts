import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../../.ci/entries.ts'
import { connection, pages, type Endpoint } from '../../../src/entries/consume.ts'
import { importOpenApi } from '../../../src/consume/openapi/import-openapi.ts'
import { rejection } from '../calls.ts'
import { serveDocument } from './document-server.ts'
import { writeFiles } from './generated.ts'

const folder = join(root, 'test/consume/openapi')
const documents = { shop: 'shop.yaml', tracker: 'tracker.json', payments: 'payments.yaml' }
const imported = {
  shop: await importOpenApi(join(folder, documents.shop)),
  tracker: await importOpenApi(join(folder, documents.tracker)),
  payments: await importOpenApi(join(folder, documents.payments)),
}

// Programs that use the endpoints: they compile only if every type is as the document says.
const uses = `
import { connection } from 'rowgate/consume'
import * as payments from './payments.ts'
import * as shop from './shop.ts'
import * as tracker from './tracker.ts'

const to = connection({ baseUrl: shop.baseUrl })
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_equal: Equal<A, B>): void => undefined

export async function useShop(): Promise<void> {
  const { listProducts, createOrder, getOrdersOrderId, delete: remove, getCategory } = shop.endpoints(to)
  const { body } = await listProducts.call({ category: ['book'], fields: ['sku'], 'X-Request-Id': 'x' })
  same<typeof body.total, number>(true)
  same<(typeof body.data)[0]['categories'], ('book' | 'game')[]>(true)
  same<(typeof body.data)[0]['stock'], { [name: string]: number }>(true)
  // @ts-expect-error -- The category is one of two.
  await listProducts.call({ category: ['food'] })
  const order = await createOrder.call({ body: { reference: 'A', lines: [{ sku: 'B', quantity: 1, note: null }] } })
  same<typeof order.body.status, 'open' | 'shipped' | "won't ship">(true)
  same<typeof order.body.reference, string>(true)
  // @ts-expect-error -- Lines are required.
  await createOrder.call({ body: { reference: 'A' } })
  // @ts-expect-error -- The key is a number.
  await getOrdersOrderId.call({ orderId: '1' })
  same<Awaited<ReturnType<typeof remove.call>>['body'], null>(true)
  const category = await getCategory.call({ body2: 'all' })
  same<typeof category.body, shop.Category>(true)
  category.body.children?.[0]?.children?.[0]?.name.trim()
}

export async function useTracker(): Promise<void> {
  const { issuesListForRepo, issuesUpdate, lock } = tracker.endpoints(to)
  const { body } = await issuesListForRepo.call({ owner: 'a', repo: 'b', state: 'all', labels: ['x'] })
  const [issue] = body
  if (issue !== undefined) {
    same<typeof issue.assignee, tracker.User | null>(true)
    same<typeof issue.labels, (string | tracker.Label)[]>(true)
    issue.comments[0]?.replies?.[0]?.author.login.trim()
    issue.parent?.parent?.title.trim()
  }
  await issuesUpdate.call({ owner: 'a', repo: 'b', 'issue-number': 7, body: undefined })
  await issuesUpdate.call({ owner: 'a', repo: 'b', 'issue-number': 7, body: { reason: 'completed' } })
  // @ts-expect-error -- The reason is a constant.
  await issuesUpdate.call({ owner: 'a', repo: 'b', 'issue-number': 7, body: { reason: 'done' } })
  // @ts-expect-error -- The parameter until is required.
  await lock.call({ owner: 'a', repo: 'b' })
}

export async function usePayments(): Promise<void> {
  const { paymentsCreate, refundsCreate } = payments.endpoints(to)
  const { body } = await paymentsCreate.call({
    body: { amount: 1, currency: 'eur', method: { type: 'bank', iban: 'x' } },
  })
  if (body.method.type === 'card') same<typeof body.method.last4, string>(true)
  else same<typeof body.method.iban, string>(true)
  same<typeof body.refund, string | payments.Refund | null>(true)
  same<typeof body.error, payments.Error | null>(true)
  await refundsCreate.call({ payment: 'a', body: null })
  await refundsCreate.call({ payment: 'a', body: { amount: 3 } })
  await paymentsCreate.call({
    // @ts-expect-error -- A card has no IBAN.
    body: { amount: 1, currency: 'eur', method: { type: 'card', iban: 'x' } },
  })
}
`

const files = writeFiles({
  shop: imported.shop.text,
  tracker: imported.tracker.text,
  payments: imported.payments.text,
  uses,
})
afterAll(files.remove)

test(
  'the imported endpoints compile, and have the types of their documents',
  { timeout: 60_000 },
  () => {
    expect(files.check()).toEqual([])
  },
)

test('what an endpoint cannot call is left out with a note', () => {
  expect(imported.shop.notes).toEqual([
    'line 9: #/paths/~1products/get: the parameter session is a cookie',
    'line 97: #/paths/~1orders~1{orderId}~1invoice/get: left out, its response is neither JSON nor text',
  ])
  expect(imported.tracker.notes).toEqual([
    'line 16: #/paths/~1repos~1{owner}~1{repo}~1issues/get: the parameter filter is neither a string, a number, a boolean nor a list of them',
  ])
  expect(imported.payments.notes).toEqual([])
})

test('the same document gives the same file', async () => {
  expect(await importOpenApi(join(folder, documents.shop))).toEqual(imported.shop)
})

describe('an imported endpoint calls a server that answers from the document', () => {
  const open = async (name: keyof typeof documents) => {
    const server = await serveDocument(join(folder, documents[name]))
    const { endpoints } = await files.load(name)
    const to = connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true })
    const all = endpoints(to)
    const get = (key: string): Endpoint<object> => all[key] as Endpoint<object>
    return { server, get }
  }

  test('of a shop', async () => {
    const { server, get } = await open('shop')
    const { body } = await get('listProducts').call({
      category: ['book', 'game'],
      fields: ['sku', 'name'],
    })
    expect(body).toMatchObject({ total: 2, data: [{ sku: 'B-1' }, { sku: 'G-7' }] })
    expect(await get('createOrder').call({ body: { reference: 'A1', lines: [] } })).toMatchObject({
      status: 201,
      body: { id: 81, lines: [{ note: null }] },
    })
    const incomplete = get('createOrder').call({ body: { lines: [] } })
    expect(await rejection(incomplete)).toMatchObject({ code: 'STATUS', status: 400 })
    expect((await get('getOrdersOrderId').call({ orderId: 81 })).body).toMatchObject({ id: 81 })
    expect((await get('delete').call({ orderId: 81 })).body).toBeNull()
    expect((await get('getCategory').call({ body2: 'all' })).body).toMatchObject({ name: 'all' })
    expect(server.received).toEqual([
      'GET /products?category=book&category=game&fields=sku%2Cname',
      'POST /orders',
      'POST /orders',
      'GET /orders/81',
      'DELETE /orders/81',
      'GET /categories/all',
    ])
    await server.close()
  })

  test('of an issue tracker', async () => {
    const { server, get } = await open('tracker')
    const repo = { owner: 'a b', repo: 'c' }
    expect((await get('issuesListForRepo').call({ ...repo, state: 'all' })).body).toMatchObject([
      { number: 7, comments: [{ reactions: { '+1': 2 } }] },
    ])
    expect((await get('issuesCreate').call({ ...repo, body: { title: 'New' } })).status).toBe(201)
    const update = get('issuesUpdate').call({ ...repo, 'issue-number': 7, body: undefined })
    expect((await update).body).toMatchObject({ number: 7 })
    expect((await get('lock').call({ ...repo, until: 'monday' })).body).toEqual({ anything: 1 })
    const found = pages(get('issuesListForRepo'), repo, { paging: { kind: 'link' } })
    expect((await found.next()).value).toMatchObject({ items: [{ number: 7 }] })
    await server.close()
  })

  test('of a payment service', async () => {
    const { server, get } = await open('payments')
    const first = pages(
      get('paymentsList'),
      {},
      {
        paging: { kind: 'cursor', parameter: 'starting_after', next: 'next_cursor' },
        items: 'data',
      },
    )
    expect((await first.next()).value).toMatchObject({ items: [{ id: 'pay_1' }, { id: 'pay_2' }] })
    // The server always answers with the same page.
    expect(await rejection(first.next())).toMatchObject({ code: 'PAGE_CYCLE' })
    const payment = { amount: 500, currency: 'eur', method: { type: 'bank', iban: 'NO93' } }
    expect((await get('paymentsCreate').call({ body: payment })).body).toMatchObject({
      refund: { payment: 'pay_3' },
    })
    const refund = await get('refundsCreate').call({ payment: 'pay_3', body: null })
    expect(refund.body).toMatchObject({ payment: { refund: 're_1' } })
    await server.close()
  })
})
