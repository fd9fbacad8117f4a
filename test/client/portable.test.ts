import { expect, onTestFinished, test } from 'vitest'
import { createClient, type PortableCollection } from '../../src/entries/client.ts'
import { principal } from '../../src/entries/index.ts'
import type { applications } from '../contract/fixture.ts'
import { start, type Running } from '../contract/running.ts'
import { cells, type Cell } from '../kit/cells.ts'

type Collections = (typeof applications)['app']['collections']

/** Collections of the fixture, in process or over the network. */
type Side = {
  readonly [Name in Exclude<keyof Collections, 'countries'>]: PortableCollection<Collections[Name]>
}

/** Every call, with what it returns. It is written once, and is run on both sides. */
async function program({ customers, lines, orders, samples, journal }: Side) {
  return [
    await customers.filter(),
    await customers.filter({ country: 'Germany' }, { sort: ['-city', 'customerId'], count: true }),
    await customers.filter({ city: 'Berlin', active: null }, { limit: 1, offset: 0 }),
    await customers.filter({}, { q: 'BL', limit: 3, count: true, sort: ['-companyName'] }),
    await customers.filter({ companyName: '100%_\\literal' }),
    await customers.filter({}, { limit: 0, count: true }),
    await customers.count({ country: 'Germany' }),
    await customers.count(),
    await customers.exists({ customerId: 'ALFKI' }),
    await customers.exists({ customerId: 'alfki' }),
    await customers.get('ALFKI'),
    await customers.get('nobody'),
    await customers.get(''),
    await customers.insert({
      customerId: 'a/b ?#%',
      companyName: 'Ä&=+',
      balance: '12.5',
      seq: '9007199254740993',
      since: '2024-02-29',
      seen: '2024-02-29T12:00:00',
      active: false,
      extra: { list: [1, null, 'x'] },
    }),
    await customers.get('a/b ?#%'),
    await customers.filter({ companyName: 'Ä&=+', balance: '12.5000', active: false }),
    await customers.update('a/b ?#%', { companyName: 'B', extra: null }),
    await customers.update('a/b ?#%', { contactName: 'x'.repeat(31), companyName: null as never }),
    await customers.update('nobody', { companyName: 'x' }),
    await customers.delete('a/b ?#%'),
    await customers.delete('a/b ?#%'),
    await lines.get([1, 'abc']),
    await lines.get([1, 'b,c']),
    await lines.update([1, 'abc'], { quantity: 5 }),
    await lines.insert({ orderId: 9, product: 'é 中' }),
    await lines.delete([9, 'é 中']),
    await lines.filter({}, { sort: ['-product'] }),
    await lines.filter({}, { sort: [], limit: 3 }),
    await orders.insert({ orderId: 10, quantity: -1 }),
    await orders.insert({ orderId: 10, quantity: 101, title: '' }),
    await orders.insert({ orderId: 10, quantity: 101, title: '' }, { ignoreWarnings: ['x'] }),
    await orders.insert({ orderId: 10, quantity: 101, title: '' }, { ignoreWarnings: 'all' }),
    await orders.insert({ orderId: 10 }),
    await orders.update(10, { quantity: 7, title: 'lucky' }),
    await orders.delete(2),
    await orders.delete(2, { ignoreWarnings: 'all' }),
    await samples.filter({ ratio: 0.5, moment: '2024-01-01T00:00:00Z' }),
    await samples.get('0A000000-0000-4000-8000-00000000000B'),
    await journal.filter({}, { count: true }),
    await journal.insert({ line: 'c' }),
  ]
}

async function running(cell: Cell): Promise<Running> {
  const service = await start(cell, {})
  onTestFinished(() => service.stop())
  return service
}

test.each(cells)(
  '$name: a program has the same results in process and over the network',
  async (cell) => {
    const { service } = await running(cell)
    const { host } = await running(cell)
    const client = createClient<typeof service>({ url: `http://127.0.0.1:${host.port}` })
    const { collection } = service.as(principal('maria'))
    const inside: Side = {
      customers: collection('app', 'customers'),
      lines: collection('app', 'lines'),
      orders: collection('app', 'orders'),
      samples: collection('app', 'samples'),
      journal: collection('app', 'journal'),
    }
    const outside: Side = {
      customers: client.collection('app', 'customers'),
      lines: client.collection('app', 'lines'),
      orders: client.collection('app', 'orders'),
      samples: client.collection('app', 'samples'),
      journal: client.collection('app', 'journal'),
    }
    const expected = await program(inside)
    expect(expected.filter((result) => result === undefined)).toHaveLength(5)
    expect(await program(outside)).toEqual(expected)
  },
)
