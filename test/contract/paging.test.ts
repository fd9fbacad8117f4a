import { expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { describeReads, type Contract } from './contract.ts'
import { answerWithin, itemsIn, keysIn } from '../kit/expectations.ts'

async function fill(contract: Contract, count: number): Promise<void> {
  const orders = contract.service.as(principal('filler'))
  const collection = orders.collection('app', 'orders')
  // Not in the order of the keys, so that nothing but the sort can bring them into it.
  for (let orderId = 999 + count; orderId >= 1000; orderId--) {
    await collection.insert({ orderId, title: `t${orderId % 3}`, quantity: orderId % 5 })
  }
}

describeReads('pages', { isSlow: true }, (contract) => {
  test('never have more than 100 items', async () => {
    await fill(contract, 150)
    for (const limit of ['100', '101', '9007199254740991']) {
      expect(itemsIn(await contract.get(`/orders?$limit=${limit}`))).toHaveLength(100)
    }
  })

  test('with equal sort values show every item exactly once', async () => {
    await fill(contract, 300)
    for (const sort of ['', '&$sort=title', '&$sort=-quantity,title', '&$sort=-title']) {
      const seen: unknown[] = []
      for (let offset = 0; offset < 310; offset += 7) {
        const page = await contract.get(`/orders?$limit=7&$offset=${offset}${sort}`)
        seen.push(...keysIn(page, 'orderId'))
      }
      expect(seen).toHaveLength(303)
      expect(new Set(seen).size).toBe(303)
    }
    const equal = await contract.get('/orders?title=t1&$sort=title&$limit=5')
    expect(keysIn(equal, 'orderId')).toEqual([1000, 1003, 1006, 1009, 1012])
  })

  test('are in code point order, not in UTF-16 order or by locale', async () => {
    const titles = [
      'a',
      'B',
      'ä',
      'z',
      'Z',
      '\uFF5E',
      '😀',
      'é',
      'e\u0301',
      ' ',
      '1',
      '10',
      '2',
      '',
    ]
    for (const [index, title] of titles.entries()) {
      await contract.post('/lines', { orderId: 77, product: `${title}x`, quantity: index })
    }
    const order = titles
      .map((title) => `${title}x`)
      .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    const up = await contract.get('/lines?orderId=77&$sort=product&$limit=100')
    const down = await contract.get('/lines?orderId=77&$sort=-product&$limit=100')
    expect(keysIn(up, 'product')).toEqual(order)
    expect(keysIn(down, 'product')).toEqual(order.toReversed())
  })

  test('sort numbers, decimals and days by value', async () => {
    const rows = [
      {
        customerId: 'n1',
        credit: 10,
        balance: '10',
        seq: '9223372036854775807',
        since: '2024-01-02',
      },
      { customerId: 'n2', credit: 9, balance: '-9.5', seq: '9', since: '0999-12-31' },
      {
        customerId: 'n3',
        credit: -10,
        balance: '-10',
        seq: '-9223372036854775808',
        since: '2023-12-31',
      },
      { customerId: 'n4', credit: 0, balance: '9.9999', seq: '10', since: '9999-12-31' },
    ]
    for (const row of rows) await contract.post('/customers', { companyName: 'n', ...row })
    const orders = {
      credit: 'n3 n4 n2 n1',
      balance: 'n3 n2 n4 n1',
      seq: 'n3 n2 n4 n1',
      since: 'n2 n3 n1 n4',
    }
    for (const [field, keys] of Object.entries(orders)) {
      const up = await contract.get(`/customers?companyName=n&$sort=${field}`)
      expect(keysIn(up)).toEqual(keys.split(' '))
      const down = await contract.get(`/customers?companyName=n&$sort=-${field}`)
      expect(keysIn(down)).toEqual(keys.split(' ').toReversed())
    }
  })

  test('compare strings exactly', async () => {
    const texts = ['😀', '😁', '0', '00', ' 0', 'é', 'e\u0301', 'E']
    for (const [index, companyName] of texts.entries()) {
      await contract.post('/customers', { customerId: `t${index}`, companyName })
    }
    for (const [index, companyName] of texts.entries()) {
      const answer = await contract.get(`/customers?companyName=${encodeURIComponent(companyName)}`)
      expect(keysIn(answer)).toEqual([`t${index}`])
    }
  })

  test('$q finds simple case pairs of every alphabet, and distinguishes accents', async () => {
    const pairs = ['ÀÉÎÕÜ', 'ĀČĘŁŐŽ', 'ΑΒΓΔΩ', 'АБВГЯ', 'ΑΣΑ', 'SS', 'K']
    for (const [index, text] of pairs.entries()) {
      await contract.post('/customers', { customerId: `q${index}`, companyName: `<${text}>` })
    }
    for (const [index, text] of pairs.entries()) {
      for (const asked of [text, text.toLowerCase()]) {
        const answer = await contract.get(`/customers?$q=${encodeURIComponent(`<${asked}>`)}`)
        expect(keysIn(answer)).toEqual([`q${index}`])
      }
    }
    for (const asked of ['<AEIOU>', '<ß>', '<ACELOZ>']) {
      expect(keysIn(await contract.get(`/customers?$q=${encodeURIComponent(asked)}`))).toEqual([])
    }
    const kelvin = await contract.get(`/customers?$q=${encodeURIComponent('<\u212A>')}`)
    expect(keysIn(kelvin)).toEqual(['q6'])
  })

  test('$q with many wildcards over long values responds quickly', async () => {
    await contract.post('/customers', {
      customerId: 'long',
      companyName: 'l',
      address: 'a'.repeat(5000),
    })
    const target = `/customers?$q=${encodeURIComponent('%a_'.repeat(40))}`
    expect(keysIn(await answerWithin(2_000, () => contract.get(target)))).toEqual([])
  })

  test('a count and its page come from one snapshot while items are inserted', async () => {
    let orderId = 5000
    const insert = async () => {
      for (let round = 0; round < 40; round++) {
        orderId += 1
        await fetch(`http://127.0.0.1:${contract.port}/rest/v1/app/orders`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ orderId }),
        })
      }
    }
    const read = async () => {
      for (let round = 0; round < 40; round++) {
        const url = `http://127.0.0.1:${contract.port}/rest/v1/app/orders?$count=true&$limit=100`
        const { items, count } = (await (await fetch(url)).json()) as { items: []; count: number }
        expect(items.length).toBe(count)
      }
    }
    await Promise.all([insert(), read(), insert()])
  })
})
