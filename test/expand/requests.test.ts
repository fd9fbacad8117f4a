import { expect } from 'vitest'
import { defineCollection, integer, type ApplicationDefinition } from '../../src/entries/index.ts'
import { describeForCallers, type CallerStage } from '../kit/stage.ts'
import { application, auditor, clerk, guest, stranger } from './sales.ts'

async function planted(open: (given: ApplicationDefinition) => CallerStage): Promise<CallerStage> {
  const stage = open(application)
  await stage.plant('customers', [
    { id: 1, name: 'Ann', city: 'Oslo', note: 'n', credit: 5 },
    { id: 2, name: 'Bob', city: 'Rome' },
  ])
  await stage.plant('orders', [
    { orderId: 1, customerId: 1, payerId: 2, total: '10.50', data: { a: [1, '"'] } },
    { orderId: 2, customerId: 2, payerId: null, total: '1.00' },
    { orderId: 3, customerId: 1, payerId: 1, total: null },
    { orderId: 4, customerId: 1 },
  ])
  await stage.plant(
    'lines',
    Array.from({ length: 23 }, (_, index) => ({
      orderId: index < 21 ? 1 : 2,
      lineNo: index,
      product: `p${index}`,
    })),
  )
  return stage
}

describeForCallers('$expand', (on) => {
  on('adds the items of relations, in the order of the definition', async (open) => {
    const stage = await planted(open)
    const page = await stage.ask(auditor, 'GET', '/orders?$expand=payer,customer&$limit=2')
    expect(JSON.parse(page.text)).toMatchObject({
      items: [
        {
          orderId: 1,
          total: '10.50',
          data: { a: [1, '"'] },
          customer: { id: 1, name: 'Ann', city: 'Oslo', credit: 5, label: '<Ann>' },
          payer: { id: 2, name: 'Bob' },
        },
        { orderId: 2, customer: { id: 2 }, payer: null },
      ],
    })
    const [first] = (JSON.parse(page.text) as { items: object[] }).items
    expect(Object.keys(first ?? {}).slice(-2)).toEqual(['customer', 'payer'])
    expect(page.text).not.toContain('"note"')
    const cursor = page.headers['X-Svc-Next-Cursor']
    const next = await stage.ask(
      auditor,
      'GET',
      `/orders?$expand=payer&$limit=2&$after=${encodeURIComponent(String(cursor))}`,
    )
    expect(JSON.parse(next.text)).toMatchObject({
      items: [
        { orderId: 3, payer: { id: 1 } },
        { orderId: 4, payer: null },
      ],
    })
  })

  on('lists the items that refer to an item, and says whether there are more', async (open) => {
    const stage = await planted(open)
    const { text: body } = await stage.ask(clerk, 'GET', '/customers/1?$expand=orders')
    expect(JSON.parse(body)).toMatchObject({
      item: { id: 1, orders: { items: [{ orderId: 4 }, { orderId: 3 }], more: true } },
    })
    const page = await stage.ask(clerk, 'GET', '/orders?$expand=lines&$fields=total&$limit=3')
    const { items } = JSON.parse(page.text) as { items: { lines: { items: object[] } }[] }
    expect(items.map(({ lines: { items: found, ...rest } }) => [found.length, rest])).toEqual([
      [20, { more: true }],
      [2, { more: false }],
      [0, { more: false }],
    ])
    expect(Object.keys(items[0] ?? {})).toEqual(['total', 'lines'])
  })

  on('names the references for conditions on their items', async (open) => {
    const stage = await planted(open)
    const path = '/orders?customer.name=Ann&$expand=customer&$fields=orderId'
    const { text } = await stage.ask(clerk, 'GET', path)
    const { items } = JSON.parse(text) as { items: { orderId: number; customer: object }[] }
    expect(items.map(({ orderId }) => orderId)).toEqual([1, 3, 4])
    expect(items[0]?.customer).toMatchObject({ name: 'Ann' })
  })

  on('shows what the caller may read, and no more', async (open) => {
    const stage = await planted(open)
    const read = async (who: typeof clerk, path: string) =>
      JSON.parse((await stage.ask(who, 'GET', path)).text) as Record<string, unknown>
    // The row rule of the customers hides Bob, as if it were missing.
    expect(await read(clerk, '/orders/2?$expand=customer')).toMatchObject({
      item: { customerId: 2, customer: null },
    })
    const { item } = (await read(clerk, '/orders/1?$expand=customer')) as {
      item: { customer: object }
    }
    expect(item.customer).toEqual({ id: 1, name: 'Ann', city: 'Oslo', label: '<Ann>' })
  })

  on('knows no relation whose items the caller may not read', async (open) => {
    const stage = await planted(open)
    const ask = async (who: typeof clerk, path: string) => {
      const { status, text: body } = await stage.ask(who, 'GET', path)
      return [status, (JSON.parse(body) as { message: string }).message]
    }
    const unknown = (name: string) => [400, `Unknown relation in $expand: ${name}.`]
    expect(await ask(guest, '/orders?$expand=lines')).toEqual(unknown('lines'))
    expect(await ask(guest, '/orders?$expand=linez')).toEqual(unknown('linez'))
    expect(await ask(guest, '/orders?$expand=customer,lines')).toEqual(unknown('lines'))
    // The row rule of the customers allows this caller no rows, so conditions match none, and none is expanded.
    for (const [query, found] of [
      ['/orders?$expand=customer&$limit=1&$fields=orderId', [{ orderId: 1, customer: null }]],
      ['/orders?customer.name=Ann', []],
    ] as const) {
      const { text } = await stage.ask(stranger, 'GET', query)
      expect(JSON.parse(text)).toMatchObject({ items: found, status: 200 })
    }
    const off = [400, 'Unknown query parameter: $expand.']
    expect(await ask(clerk, '/lines?$expand=order')).toEqual(off)
    expect(await ask(clerk, '/lines/1,0?$expand=order')).toEqual(off)
    for (const value of ['', ',', 'a,a', '__proto__'])
      expect(await ask(clerk, `/lines?$expand=${value}`)).toEqual(off)
    expect(await ask(clerk, '/lines?$expand=a&$expand=b')).toEqual([
      400,
      'Repeated query parameter: $expand.',
    ])
  })

  on('rejects what it cannot mean', async (open) => {
    const stage = await planted(open)
    const message = async (path: string) => {
      const { status, text: body } = await stage.ask(auditor, 'GET', path)
      expect(status).toBe(400)
      return (JSON.parse(body) as { message: string }).message
    }
    for (const value of ['', 'customer,customer', ',', 'customer,', '%FF'])
      expect(await message(`/orders?$expand=${value}`)).toMatch(/\$expand must list|encoded UTF-8/)
    for (const name of ['__proto__', 'constructor', 'customerId', 'lines.product', '*'])
      expect(await message(`/orders?$expand=${name}`)).toMatch(/^(Unknown relation|The parameter)/)
    expect(await message('/orders?$expand=lines,customer&$limit=100')).toBe(
      'The response could have 2100 related items, and at most 2000 are allowed: lower $limit, or name fewer relations in $expand.',
    )
    expect(await message('/orders/1?$expand=lines&$limit=1')).toBe(
      'Parameters with a $ prefix act on collections, not on items, apart from $expand.',
    )
    const saved = await stage.ask(auditor, 'POST', '/orders/1', { customer: { id: 1 } })
    expect(JSON.parse(saved.text)).toMatchObject({
      validations: [{ field: 'customer', severity: 'error' }],
    })
  })

  on('is repeated as lists are, and is read anew after each change', async (open) => {
    const stage = await planted(open)
    const path = '/orders/1?$expand=customer&$expand=payer'
    const read = async () => {
      const { text: body, headers } = await stage.ask(auditor, 'GET', path)
      const { item } = JSON.parse(body) as { item: { customer: { name: string } } }
      return { name: item.customer.name, tag: headers['ETag'] }
    }
    const tags = new Set()
    for (const name of ['Ann', 'Amy', 'Ada']) {
      await stage.ask(auditor, 'POST', '/customers/1', { name })
      for (let time = 0; time < 3; time++) {
        const found = await read()
        expect(found.name).toBe(name)
        tags.add(found.tag)
      }
    }
    expect(tags.size).toBe(3)
    // The tag of the item itself is enough to change it.
    const [tag] = tags
    const changed = await stage.ask({ ...auditor, 'if-match': String(tag) }, 'POST', '/orders/1', {
      total: '3.00',
    })
    expect(changed.status).toBe(200)
  })

  on('runs the row rules only of the collections that a request asks for', async (open) => {
    const called: string[] = []
    const ruled = (name: string) =>
      defineCollection(
        { key: 'id', fields: { id: integer() } },
        {
          rows: () => {
            called.push(name)
            return true
          },
        },
      )
    const orders = defineCollection({
      key: 'orderId',
      fields: {
        orderId: integer(),
        customerId: integer({ references: 'customers' }),
        payerId: integer({ references: 'payers' }),
      },
      expand: { customer: 'customerId', payer: 'payerId' },
    })
    const collections = { orders, customers: ruled('customers'), payers: ruled('payers') }
    const stage = open({ collections })
    await stage.plant('customers', [{ id: 1 }])
    await stage.plant('orders', [{ orderId: 1, customerId: 1 }])
    called.length = 0
    for (const path of ['/orders', '/orders/1', '/orders?orderId=1&$limit=3', '/orders?$fields=*'])
      expect((await stage.ask(clerk, 'GET', path)).status).toBe(200)
    expect(called).toEqual([])
    const { text } = await stage.ask(clerk, 'GET', '/orders/1?%24%65xpand=customer')
    expect(JSON.parse(text)).toMatchObject({ item: { customer: { id: 1 } } })
    expect([...new Set(called)]).toEqual(['customers'])
  })
})
