import { expect, test } from 'vitest'
import fc from 'fast-check'
import { describeContract, describeReads } from './contract.ts'
import { runsOn } from '../kit/cells.ts'
import { expectInvalid, expectError, itemIn, itemsIn } from '../kit/expectations.ts'

describeReads('GET of an item', { isSlow: true }, (contract) => {
  test('a composite key is written with a comma or with %2C', async () => {
    const answers = ['/lines/1,abc', '/lines/1%2Cabc', '/lines/1%2cabc', '/lines/%31,%61bc']
    for (const path of answers) {
      expect(itemIn(await contract.get(path))).toEqual({
        orderId: 1,
        product: 'abc',
        quantity: 1,
      })
    }
  })

  test.each([
    [
      'a wrong number of parts',
      '/lines/1',
      '/lines/1,',
      '/lines/,abc',
      '/lines/,',
      '/lines/1,a,b',
      '/lines/,,',
      '/lines/abc',
    ],
    ['a key that would have to be decoded twice', '/lines/1%252Cabc', '/customers/%2541LFKI'],
    ['U+0000 in a key', '/customers/x%00y', '/customers/ALFKI%00', '/lines/1,%00'],
    ['another case', '/customers/alfki', '/customers/Alfki'],
    [
      'a number that is not canonical',
      '/orders/01',
      '/orders/1.0',
      '/orders/+1',
      '/orders/%201',
      '/orders/1e0',
      '/orders/-0',
      '/orders/9007199254740993',
      '/orders/abc',
      '/lines/01,abc',
    ],
    ['a malformed uuid', '/samples/0a', '/samples/0a000000-0000-4000-8000-00000000000g'],
    [
      'names of Object.prototype',
      '/customers/__proto__',
      '/customers/constructor',
      '/customers/toString',
    ],
    [
      'an unknown key',
      '/customers/NOPE',
      '/orders/999',
      '/lines/1,nope',
      '/customers/ALFKI%20',
      '/customers/%F0%9F%98%80',
    ],
    ['a collection without key', '/journal/1', '/journal/a'],
    ['+ is not a space in a path', '/customers/ALF+KI'],
  ])('%s responds 404 for every method of an item', async (_id, ...paths) => {
    for (const path of paths) {
      expectError(await contract.get(path), 404)
      expectError(await contract.delete(path), 404)
      expectError(await contract.post(path, {}), 404)
    }
  })

  test('every 404 is the same response', async () => {
    const paths = [
      '/customers/NOPE',
      '/orders/01',
      '/lines/1',
      '/nothing',
      '/nothing/1',
      '/customers/',
    ]
    const answers = await Promise.all(paths.map((path) => contract.get(path)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('a uuid is found in any case', async () => {
    const item = itemIn(await contract.get('/samples/0A000000-0000-4000-8000-00000000000B'))
    expect(item['id']).toBe('0a000000-0000-4000-8000-00000000000b')
  })

  test('a field name in the query is one more condition', async () => {
    expect(itemIn(await contract.get('/customers/ALFKI?city=Berlin&region='))).toBeDefined()
    expectError(await contract.get('/customers/ALFKI?city=London'), 404)
    expectError(await contract.get('/customers/ALFKI?customerId=ANATR'), 404)
    itemIn(await contract.get('/customers/ALFKI?customerId=ALFKI'))
  })

  test.each(['nope=1', '$fields=city', '$limit=1', '$q=a', '$count=true', 'credit=x', '$x=1'])(
    'rejects the query %s',
    async (query) => {
      expectError(await contract.get(`/customers/ALFKI?${query}`), 400)
    },
  )

  test('keys in different normal forms, and names of Object.prototype, are their own items', async () => {
    const keys = [
      'é',
      'e\u0301',
      '__proto__',
      'toString',
      'hasOwnProperty',
      '1,2',
      'a/b',
      'a%2Fb',
      '?#',
      ' ',
      '+',
      '%',
      '..a',
    ]
    for (const customerId of keys) {
      itemIn(
        await contract.post('/customers', {
          customerId: customerId.slice(0, 10),
          companyName: customerId,
        }),
      )
    }
    for (const customerId of keys) {
      const path = `/customers/${encodeURIComponent(customerId.slice(0, 10))}`
      expect(itemIn(await contract.get(path))['companyName']).toBe(customerId)
    }
  })

  test('every created item is found under its key', { timeout: 60_000 }, async () => {
    const key = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 10 })
      .filter((text) => !text.includes('\0') && text !== '.' && text !== '..')
    const property = fc.asyncProperty(key, fc.integer(), async (customerId, credit) => {
      const sent = await contract.send({
        method: 'POST',
        target: '/rest/v1/app/customers',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ customerId, companyName: 'x', credit }),
      })
      const created = itemIn(sent)['customerId'] as string
      expect(created).toBe(customerId)
      const path = `/customers/${encodeURIComponent(created)}`
      expect(itemIn(await contract.get(path))['credit']).toBe(credit)
      expect(itemIn(await contract.delete(path))['customerId']).toBe(customerId)
    })
    await fc.assert(property, { numRuns: runsOn(contract.cell, 500), seed: 21 })
  })

  test('every created part of a composite key is found under its key', async () => {
    const part = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 8 })
      .filter((text) => !/[\0,]/.test(text))
    const property = fc.asyncProperty(fc.integer(), part, async (orderId, product) => {
      itemIn(await contract.post('/lines', { orderId, product }))
      const path = `/lines/${orderId},${encodeURIComponent(product)}`
      expect(itemIn(await contract.get(path))).toMatchObject({ orderId, product })
      itemIn(await contract.delete(path))
    })
    await fc.assert(property, { numRuns: runsOn(contract.cell, 100), seed: 21 })
  })
})

describeContract('POST and DELETE of an item', {}, (contract) => {
  test('an update of some fields keeps the others and returns the whole item', async () => {
    const before = itemIn(await contract.get('/customers/ALFKI'))
    const after = itemIn(await contract.post('/customers/ALFKI', { city: 'Bonn', phone: '1' }))
    expect(after).toEqual({ ...before, city: 'Bonn', phone: '1' })
    expect(itemIn(await contract.get('/customers/ALFKI'))).toEqual(after)
  })

  test('null clears, and an absent field is kept', async () => {
    const after = itemIn(await contract.post('/customers/ALFKI', { contactName: null }))
    expect(after).toMatchObject({ contactName: null, city: 'Berlin' })
  })

  test('an update without any field changes nothing and returns the item', async () => {
    const before = itemIn(await contract.get('/customers/ALFKI'))
    expect(itemIn(await contract.post('/customers/ALFKI', {}))).toEqual(before)
  })

  test('an update changes no other row', async () => {
    const before = await contract.rows()
    itemIn(await contract.post('/lines/1,abc', { quantity: 9 }))
    const after = await contract.rows()
    const changed = (before['app/lines'] ?? []).map((row) =>
      row['orderId'] === 1 && row['product'] === 'abc' ? { ...row, quantity: 9 } : row,
    )
    expect(after).toEqual({ ...before, 'app/lines': changed })
  })

  test('the key in the body must equal the key in the path', async () => {
    itemIn(await contract.post('/customers/ALFKI', { customerId: 'ALFKI', city: 'Bonn' }))
    for (const customerId of ['ANATR', 'NEW', null, 5, '', 'alfki']) {
      expectInvalid(await contract.post('/customers/ALFKI', { customerId }), ['customerId'], {
        customerId,
      })
    }
    expectInvalid(await contract.post('/lines/1,abc', { orderId: 2, product: 'x' }), [
      'orderId',
      'product',
    ])
  })

  test('the key of a uuid may be sent back in any case', async () => {
    const id = '0A000000-0000-4000-8000-00000000000B'
    const item = itemIn(await contract.post(`/samples/${id}`, { id, label: 'x' }))
    expect(item).toMatchObject({ id: id.toLowerCase(), label: 'x' })
  })

  test('a read-only field can be sent unchanged, and not changed', async () => {
    itemIn(await contract.post('/customers/ALFKI', { city: 'Bonn' }))
    itemIn(await contract.post('/customers/ALFKI', { createdBy: 'system', city: 'Bern' }))
    for (const createdBy of ['me', null, '', 'System']) {
      expectInvalid(await contract.post('/customers/ALFKI', { createdBy }), ['createdBy'])
    }
    const whole = itemIn(await contract.get('/customers/ALFKI'))
    expect(itemIn(await contract.post('/customers/ALFKI', whole))).toEqual(whole)
  })

  test('an update must not empty a required field', async () => {
    expectInvalid(await contract.post('/customers/ALFKI', { companyName: null }), ['companyName'], {
      companyName: null,
    })
  })

  test('a delete returns the deleted record, and a second one responds 404', async () => {
    const item = itemIn(await contract.get('/customers/ALFKI'))
    expect(itemIn(await contract.delete('/customers/ALFKI'))).toEqual(item)
    expectError(await contract.delete('/customers/ALFKI'), 404)
    expectError(await contract.get('/customers/ALFKI'), 404)
    expectError(await contract.post('/customers/ALFKI', {}), 404)
  })

  test('a delete removes exactly one row', async () => {
    const before = (await contract.rows())['app/lines'] ?? []
    itemIn(await contract.delete('/lines/1,abc'))
    const after = (await contract.rows())['app/lines'] ?? []
    expect(after).toEqual(before.filter((row) => row['orderId'] !== 1 || row['product'] !== 'abc'))
  })

  test('a deleted item can be inserted again', async () => {
    itemIn(await contract.delete('/orders/1'))
    expect(itemIn(await contract.post('/orders', { orderId: 1 }))).toEqual({
      orderId: 1,
      title: null,
      quantity: null,
    })
    expect(itemsIn(await contract.get('/orders'))).toHaveLength(3)
  })

  test.each(['?x=1', '?city=Berlin', '?$limit=1', '?_method=DELETE', '?$fields=*'])(
    'parameters on POST and DELETE are rejected: %s',
    async (query) => {
      expectError(await contract.post(`/customers${query}`, { customerId: 'N' }), 400)
      expectError(await contract.post(`/customers/ALFKI${query}`, {}), 400)
      expectError(await contract.delete(`/customers/ALFKI${query}`), 400)
    },
  )

  test('an empty query on POST and DELETE is none', async () => {
    itemIn(await contract.post('/customers/ALFKI?', {}))
    itemIn(await contract.delete('/customers/ALFKI?&'))
  })
})
