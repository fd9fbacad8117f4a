import { expect, test } from 'vitest'
import { createClient } from '../../src/entries/client.ts'
import {
  defineCollection,
  integer,
  principal,
  system,
  text,
  type ApplicationDefinition,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { serveDuringTest } from '../kit/server.ts'
import { send, type Response } from '../kit/service.ts'
import { describeForCallers, openStage } from '../kit/stage.ts'
import { localStorages } from '../kit/storages.ts'
import { visitor } from '../kit/visitors.ts'
import { bytesOf } from '../rights/responses.ts'

const ofText = ['eq', 'ne', 'in', 'notIn', 'isNull', 'gte', 'lt', 'contains', 'startsWith'] as const
const ofNumber = ['eq', 'ne', 'in', 'notIn', 'isNull', 'lt', 'lte', 'gt', 'gte'] as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const
const hidden = { readableBy: ['Auditor'] } as const

const customers = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    name: text(),
    region: text(),
    secret: text(hidden),
    score: integer(hidden),
  },
  rows,
  expand: { orders: { from: 'orders', reference: 'customerId', limit: 3 } },
})
const vaults = defineCollection({
  key: 'id',
  fields: { id: integer(), code: text() },
  eventRoles: { Filter: ['Auditor'] },
})
const lines = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    orderId: integer({ references: 'orders' }),
    region: text(),
    cost: integer(hidden),
  },
  rows,
})
const notes = defineCollection({
  key: 'id',
  fields: { id: integer(), orderId: integer({ references: 'orders', ...hidden }) },
})
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customerId: integer({ references: 'customers' }),
    sellerId: integer({ references: 'customers', ...hidden }),
    vaultId: integer({ references: 'vaults' }),
  },
  cursor: true,
  concurrency: { ifMatch: 'optional' },
  operators: {
    id: ['gte'],
    'customer.name': ofText,
    'customer.secret': ofText,
    'customer.score': ofNumber,
    'seller.name': ofText,
    'vault.code': ofText,
  },
  expand: {
    customer: 'customerId',
    seller: 'sellerId',
    vault: 'vaultId',
    lines: { from: 'lines', limit: 2 },
    notes: { from: 'notes' },
  },
})
const application: ApplicationDefinition = {
  collections: { customers, vaults, lines, notes, orders },
}

const clerk = visitor('carl', { roles: 'Sales', region: 'x' })
const auditor = visitor('ada', { roles: 'Auditor' })

/** The hidden fields of referenced items: of a visible reference, a hidden one, and of a hidden collection. */
const hiddenFields = [
  ...['secret', 'score'].map((field) => `customer.${field}`),
  ...['seller.name', 'vault.code'],
]
const hiddenRelations = ['seller', 'vault', 'notes']
const operators = [
  'ne',
  'in',
  'notIn',
  'isNull',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'startsWith',
]
const values = ['z', 'abc', '5', '', 'true', '%00', '%25', '%FF', 'x'.repeat(250)]

/** Requests by the name of a field of a referenced item, with valid values and invalid ones. */
function requestsBy(name: string): readonly string[] {
  const parameters = [name, ...[...operators, 'nosuch', 'eq'].map((one) => `${name}.${one}`)]
  return [
    ...parameters.flatMap((one) => [
      ...values.map((value) => `?${one}=${value}`),
      `?${one}=a&$count=true&$limit=0`,
      `?${one}=a&$expand=customer,lines`,
      `?${one}=a&${one}=b`,
    ]),
    ...[`?$sort=${name}`, `?$sort=-${name},id`, `?$fields=id,${name}`, `?$expand=${name}`],
    ...[`/1?${name}=a`, `/1?${name}.gte=a`],
  ]
}

/** Requests for the items of a relation. */
function requestsFor(name: string): readonly string[] {
  return [
    ...[name, `customer,${name}`, `${name},lines`, `${name}.id`, `customer.${name}`].flatMap(
      (names) => [`?$expand=${names}`, `/1?$expand=${names}`, `/77?$expand=${names}`],
    ),
    ...[
      `?$expand=${name}&$expand=lines`,
      `?$expand=${name}&$limit=100`,
      `?$expand=${name},${name}`,
    ],
    ...[`?$expand=${name}&$count=true&$limit=0`, `?$expand=${name}&$fields=id&$sort=-id`],
    ...[`?${name}=1`, `?${name}.id=1`, `?$sort=${name}`, `?$fields=${name}`, `/1?${name}=1`],
  ]
}

test('what a caller may not read through a relation responds as a name that does not exist, without a read', async () => {
  const { service, storageCalls } = openStage(application.collections)
  await service.as(system).collection('app', 'orders').insert({ id: 1 })
  const before = storageCalls.length
  const get = (path: string): Promise<Response> =>
    send(service, { method: 'GET', path: `/orders${path}`, headers: clerk })
  for (const [requests, names] of [
    [requestsBy, hiddenFields],
    [requestsFor, hiddenRelations],
  ] as const)
    for (const name of names) {
      // Relations of relations do not exist, nor do names of the same length.
      const other = 'q'.repeat(name.length)
      const unknown = requests(other)
      for (const [index, path] of requests(name).entries()) {
        const found = await get(path)
        const expected = bytesOf(await get(unknown[index] as string)).replaceAll(other, name)
        expect([path, bytesOf(found)]).toEqual([path, expected])
        expect([path, found.status]).toEqual([path, 400])
      }
    }
  expect(storageCalls).toHaveLength(before)
})

/** What an attacker sends who knows the definition. */
const attack = [
  ...hiddenFields.flatMap(requestsBy),
  ...hiddenRelations.flatMap(requestsFor),
  // What it may send must not show anything of hidden rows and fields either.
  ...['', '&$sort=-id', '&$count=true', '&customer.name.gte=A', '&id.gte=2', '&$fields=*'].flatMap(
    (rest) => ['customer', 'lines', 'lines,customer'].map((names) => `?$expand=${names}${rest}`),
  ),
  ...['eq=Dan', 'ne=Ann', 'startsWith=D', 'contains=a', 'isNull=true', 'notIn=Ann'].map(
    (condition) => `?customer.name.${condition}`.replace('.eq', ''),
  ),
  ...[1, 2, 3, 4].flatMap((id) => [`/${id}?$expand=customer,lines`, `/${id}?customer.name.gte=A`]),
]

const visible = {
  customers: [{ id: 1, name: 'Ann', region: 'x' }],
  orders: [
    { id: 1, customerId: 1, vaultId: 1 },
    { id: 2, customerId: 2, vaultId: null },
    { id: 3, customerId: 3 },
    { id: 4, customerId: null },
  ],
  lines: [
    { id: 1, orderId: 1, region: 'x' },
    { id: 5, orderId: 1, region: 'x' },
    { id: 7, orderId: 2, region: 'x' },
  ],
}

/** Two stocks of data that differ only in what the clerk may not read. */
const worlds = [
  {
    vaults: [{ id: 1, code: 'apple' }],
    customers: [
      { ...visible.customers[0], secret: 'zebra', score: 5 },
      { id: 2, name: 'Dan', region: 'y', secret: 'melon' },
      { id: 3, name: 'Eve', region: 'y' },
    ],
    orders: visible.orders.map((order) => ({ ...order, sellerId: 1 })),
    // Hidden lines are before, between and behind the others, so that the bound of a list cuts them.
    lines: [
      ...visible.lines.map((line) => ({ ...line, cost: 10 - line.id })),
      ...[0, 3, 9].map((id) => ({ id, orderId: 1, region: 'y' })),
    ],
    notes: [{ id: 1, orderId: 1 }],
  },
  {
    vaults: [{ id: 1, code: 'pear' }],
    customers: [
      { ...visible.customers[0], secret: 'apple', score: null },
      { id: 2, name: null, region: 'z', score: 7 },
      { id: 3, name: 'Dan', region: 'z', secret: 'a' },
    ],
    orders: visible.orders.map((order) => ({ ...order, sellerId: order.id === 4 ? 3 : null })),
    lines: visible.lines.map((line) => ({ ...line, cost: line.id })),
    notes: [],
  },
]

describeForCallers(
  'an attacker',
  (on) => {
    on('receives the same bytes whatever is hidden behind relations', async (open) => {
      const answers: string[][] = []
      for (const [index, world] of worlds.entries()) {
        const { ask, plant, service } = open(application)
        for (const name of ['vaults', 'customers', 'orders', 'lines', 'notes'] as const)
          await plant(name, world[name])
        const get = async (path: string): Promise<string> =>
          bytesOf(await ask(clerk, 'GET', `/orders${path}`))
        const all: string[] = []
        for (const path of attack) all.push(await get(path))
        for (const path of ['?$expand=orders', '/1?$expand=orders', '/2?$expand=orders'])
          all.push(bytesOf(await ask(clerk, 'GET', `/customers${path}`)))
        const inside = service
          .as(principal('carl', { roles: ['Sales'], attributes: { region: 'x' } }))
          .collection('app', 'orders')
        for (const relation of [...hiddenRelations, 'customer', 'lines', 'lines.order']) {
          const result = inside.filter({}, { expand: [relation], limit: 5 })
          all.push(await result.then(JSON.stringify, String))
          all.push(await inside.get(1, { expand: [relation] }).then(JSON.stringify, String))
        }
        answers.push(all)
        const { text: body } = await ask(auditor, 'GET', '/orders?customer.secret.startsWith=z')
        expect((JSON.parse(body) as { items: unknown[] }).items).toHaveLength(index === 0 ? 1 : 0)
      }
      expect(answers[0]).toEqual(answers[1])
      const shown = answers[0]?.join('') ?? ''
      expect(shown).toContain('"lines":{"items":[{"id":1,"orderId":1,"region":"x"},')
      expect(shown).not.toMatch(/"(secret|score|cost|sellerId|code)"|zebra|melon|Dan"|Eve/)
    })
  },
  { on: [...localStorages, ...serverStorages], comparesRows: false },
)

test('the rights of a caller hold in process and over the typed client', async () => {
  const { service, storageCalls } = openStage(application.collections)
  for (const name of ['vaults', 'customers', 'orders', 'lines', 'notes'] as const)
    await service
      .as(system)
      .collection('app', name)
      .insertMany(worlds[0]?.[name] ?? [])
  const url = await serveDuringTest(toNodeHandler(service))
  const asClerk = (target: string, request: RequestInit) => {
    const headers = new Headers(request.headers)
    for (const [name, value] of Object.entries(clerk)) headers.set(name, value)
    return fetch(target, { ...request, headers })
  }
  const client = createClient<typeof service>({ url, fetch: asClerk })
  const outside = client.collection('app', 'orders')
  const inside = service
    .as(principal('carl', { roles: ['Sales'], attributes: { region: 'x' } }))
    .collection('app', 'orders')
  const before = storageCalls.length
  for (const relation of [...hiddenRelations, 'nosuch', 'customer.orders', '__proto__']) {
    const options = { expand: [relation], limit: 5 }
    const error = hiddenRelations.includes(relation) ? { code: 'FORBIDDEN' } : TypeError
    for (const call of [inside.filter({}, options), inside.get(1, { expand: [relation] })])
      await (typeof error === 'function'
        ? expect(call).rejects.toThrow(error)
        : expect(call).rejects.toMatchObject(error))
    for (const call of [outside.filter({}, options), outside.get(1, { expand: [relation] })])
      await expect(call).rejects.toThrow(`Unknown relation in $expand: ${relation}.`)
  }
  for (const condition of ['customer.secret', 'customer.score', 'seller.name', 'vault.code'])
    await expect(outside.filter({ [condition]: { gte: 'a' } })).rejects.toThrow(
      `Unknown query parameter: ${condition}.gte.`,
    )
  expect(storageCalls).toHaveLength(before)
  const options = { expand: ['lines', 'customer'], limit: 5 }
  const expected = await inside.filter({}, options)
  expect((await outside.filter({}, options)).items).toEqual(expected.items)
  expect(expected.items[1]).toEqual({
    ...{ id: 2, customerId: 2, vaultId: null, customer: null },
    lines: { items: [{ id: 7, orderId: 2, region: 'x' }], more: false },
  })
})
