import { expect, test } from 'vitest'
import { anonymous, createService, memoryStorage, openAccess } from '../../src/entries/index.ts'
import { describeContract } from './contract.ts'
import { expectInvalid, expectError, idsOfWarnings, itemIn, itemsIn } from '../kit/expectations.ts'
import { applications } from './fixture.ts'

describeContract('limitExcess: reject', { limitExcess: 'reject' }, (contract) => {
  test('rejects a $limit above the maximum, and serves the maximum', async () => {
    expectError(await contract.get('/customers?$limit=101'), 400, '$limit')
    expectError(await contract.get('/customers?$limit=1000000000'), 400, '100')
    expect(itemsIn(await contract.get('/customers?$limit=100'))).toHaveLength(12)
  })
})

describeContract('bodyStatus: http', { bodyStatus: 'http' }, (contract) => {
  test('gives a failed save the body status 400', async () => {
    const answer = await contract.post('/customers/ALFKI', { companyName: null })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      item: { companyName: null },
      message: 'The changes could not be saved.',
      validations: [
        { message: 'companyName is required.', severity: 'error', field: 'companyName' },
      ],
      status: 400,
    })
  })

  test('leaves warnings and successes as they are', async () => {
    idsOfWarnings(await contract.post('/orders/1', { quantity: 101 }))
    expect((await contract.get('/orders/1')).body.status).toBe(200)
  })
})

describeContract('brand: acme', { brand: 'acme' }, (contract) => {
  test('changes the names of both headers', async () => {
    const answer = await contract.post('/orders/1', { quantity: 101 })
    expect(answer.headers['x-acme-version']).toBe('4.54')
    expect(answer.headers).not.toHaveProperty('x-svc-version')
    const ids = idsOfWarnings(answer)
    const header = ids.map((id) => `"${id}"`).join()
    idsOfWarnings(
      await contract.post('/orders/1', { quantity: 101 }, { 'X-Svc-Ignore-Warnings': header }),
    )
    itemIn(
      await contract.post('/orders/1', { quantity: 101 }, { 'X-Acme-Ignore-Warnings': header }),
    )
  })
})

describeContract('serviceVersion: false', { serviceVersion: false }, (contract) => {
  test('sends no version header', async () => {
    for (const path of ['/orders', '/nothing']) {
      const { headers } = await contract.get(path)
      expect(Object.keys(headers).filter((name) => /version|powered|server/.test(name))).toEqual([])
    }
  })
})

describeContract('serviceVersion: 4.40', { serviceVersion: '4.40' }, (contract) => {
  test('sends that version', async () => {
    expect((await contract.get('/orders')).headers['x-svc-version']).toBe('4.40')
  })
})

describeContract('maxPageSize: 5', { maxPageSize: 5 }, (contract) => {
  test('is default and maximum of a collection without page options', async () => {
    expect(itemsIn(await contract.get('/customers'))).toHaveLength(5)
    expect(itemsIn(await contract.get('/customers?$limit=100'))).toHaveLength(5)
    expect(itemsIn(await contract.get('/customers?$limit=3'))).toHaveLength(3)
  })
})

describeContract('maxPageSize: 1000', { maxPageSize: 1000 }, (contract) => {
  test('raises the maximum, and leaves the default at 10', async () => {
    expect(itemsIn(await contract.get('/customers'))).toHaveLength(10)
    expect(itemsIn(await contract.get('/customers?$limit=1000'))).toHaveLength(12)
  })
})

describeContract('bodyLimit: 50', { bodyLimit: 50 }, (contract) => {
  test('counts bytes', async () => {
    const body = (size: number) => `{"quantity":5}`.padEnd(size)
    itemIn(await contract.post('/orders/1', body(50)))
    expectError(await contract.post('/orders/1', body(51)), 413, '50')
    const chunked = { 'Transfer-Encoding': 'chunked' }
    itemIn(await contract.post('/orders/1', body(50), chunked))
    expectError(await contract.post('/orders/1', body(51), chunked), 413)
    const wide = `{"nope":"${'é'.repeat(19)}"}`
    expect([wide.length, Buffer.byteLength(wide)]).toEqual([30, 49])
    expectInvalid(await contract.post('/orders/1', wide), ['nope'])
    expectError(await contract.post('/orders/1', wide.replace('é', 'éé')), 413)
  })
})

test('the pages of a collection may be set in its definition', async () => {
  const { orders } = applications.app.collections
  const small = { ...orders, pageSize: { default: 2, maximum: 3 } }
  const service = createService({
    applications: { app: { collections: { small } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const collection = service.as(anonymous).collection('app', 'small')
  for (let orderId = 0; orderId < 5; orderId++) await collection.insert({ orderId })
  const page = async (query: string) => {
    const { body } = await service.handle({
      method: 'GET',
      target: `/rest/v1/app/small${query}`,
      header: () => undefined,
      secure: false,
      peer: undefined,
      body: async () => new Uint8Array(),
      signal: undefined,
    })
    return (JSON.parse(body) as { items: [] }).items.length
  }
  expect([await page(''), await page('?$limit=5'), await page('?$limit=1')]).toEqual([2, 3, 1])
})
