import { expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import { itemIn, itemsIn } from '../kit/expectations.ts'

describeContract('the envelope', {}, (contract) => {
  test('of a page has items, count, message, validations and status', async () => {
    const { text } = await contract.get('/countries')
    expect(text).toBe(
      '{"items":[{"code":"de","name":"Germany"}],"count":null,"message":null,"validations":[],"status":200}',
    )
  })

  test('of an item has item, message, validations and status', async () => {
    const { text } = await contract.get('/countries/de')
    expect(text).toBe(
      '{"item":{"code":"de","name":"Germany"},"message":null,"validations":[],"status":200}',
    )
  })

  test('of an empty page is not different', async () => {
    const { text } = await contract.get('/countries?code=xx&$count=true')
    expect(text).toBe('{"items":[],"count":0,"message":null,"validations":[],"status":200}')
  })

  test('of an error has message, validations and status only', async () => {
    const { text } = await contract.get('/countries/xx')
    expect(text).toBe('{"message":"Not found.","validations":[],"status":404}')
  })

  test('of a failed save is as in the contract', async () => {
    const { status, text } = await contract.post('/customers/ALFKI', {
      contactName: 'x'.repeat(31),
    })
    expect(status).toBe(400)
    expect(text).toBe(
      `{"item":{"contactName":"${'x'.repeat(31)}"},"message":"The changes could not be saved.",` +
        '"validations":[{"message":"contactName must have at most 30 characters.","severity":"error",' +
        '"field":"contactName"}],"status":200}',
    )
  })

  test('comes with the contract version', async () => {
    for (const path of ['/customers', '/customers/ALFKI', '/nothing']) {
      const { headers } = await contract.get(path)
      expect(headers['x-svc-version']).toBe('4.54')
    }
  })

  test('has no header that describes the server or allows caching', async () => {
    const { headers } = await contract.get('/customers')
    for (const name of ['etag', 'last-modified', 'x-powered-by', 'server', 'location']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  test('of a page lists the default fields in definition order', async () => {
    const [first] = itemsIn(await contract.get('/customers?$limit=1'))
    expect(Object.keys(first ?? {})).toEqual([
      'customerId',
      'companyName',
      'contactName',
      'createdBy',
      'credit',
      'balance',
      'seq',
      'since',
      'seen',
      'active',
      'extra',
    ])
  })

  test('of an item lists every field in definition order, null where there is no value', async () => {
    const item = itemIn(await contract.get('/customers/ALFKI'))
    expect(item).toEqual({
      customerId: 'ALFKI',
      companyName: 'Alfheim Futterkiste',
      contactName: 'Sunniva Nygård',
      address: null,
      city: 'Berlin',
      region: null,
      postalCode: null,
      phone: null,
      country: 'Germany',
      createdBy: 'system',
      credit: 19,
      balance: '19.2500',
      seq: null,
      since: null,
      seen: null,
      active: null,
      extra: null,
    })
    expect(Object.keys(item).slice(3, 10)).toEqual(
      'address,city,region,postalCode,phone,country,createdBy'.split(','),
    )
  })
})
