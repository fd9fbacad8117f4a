import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSample, type Sample } from './sample.ts'

let sample: Sample
beforeAll(async () => {
  sample = await openSample()
  sample.write('package.json', '{ "type": "module", "private": true }\n')
})
afterAll(() => sample.close())

/** A program that uses a generated client. It prints one line of JSON. */
interface Client {
  readonly name: string
  /** Generates the client. */
  generate(): Promise<unknown>
  /** Imports the client and declares `calls`, by the names of {@link Calls}. */
  readonly program: string
}

// Every client runs the same story. Its calls return the HTTP status, and the envelope.
const story = `
const seen: unknown[] = []
const note = ({ status, body }: { status: unknown; body: any }) => { seen.push([status, body.status]); return body }
const page = note(await calls.list())
const item = note(await calls.item())
const inserted = note(await calls.insert({ customerId: 'ZZZZZ', companyName: 'Zebra' }))
const failed = note(await calls.insert({ customerId: 'ZZZZZ', companyName: 'Zebra' }))
const composite = note(await calls.composite(10248, 11))
const warned = note(await calls.sell(undefined))
const ids = warned.validations.map(({ validationId }: { validationId: string }) => '"' + validationId + '"').join()
note(await calls.sell(ids))
note(await calls.unsell())
note(await calls.remove())
console.log(JSON.stringify({
  seen, names: page.items.map(({ companyName }: { companyName: string }) => companyName), city: item.item.city,
  made: inserted.item.customerId, field: failed.validations[0].field, quantity: composite.item.quantity,
}))
`

const fetchClient: Client = {
  name: 'openapi-typescript and openapi-fetch',
  generate: () =>
    sample.run('openapi-typescript', sample.file, '-o', sample.write('schema.d.ts', '')),
  program: `
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'
const client = createClient<paths>({
  baseUrl: process.env['URL'] as string,
  headers: { 'X-API-Key': process.env['KEY'] as string },
  querySerializer: { array: { style: 'form', explode: false } },
})
type Reply = { readonly data?: unknown; readonly error?: unknown; readonly response: Response }
const of = ({ data, error, response }: Reply) => ({ status: response.status, body: (data ?? error) as any })
const warnings = (ids: string | undefined) =>
  ids === undefined ? {} : { header: { 'X-Svc-Ignore-Warnings': ids } }
const calls = {
  list: async () => of(await client.GET('/sales/customers', { params: { query: { $limit: 2, $sort: ['-companyName'] } } })),
  item: async () => of(await client.GET('/sales/customers/{customerId}', { params: { path: { customerId: 'ALFKI' } } })),
  insert: async (body: { customerId: string; companyName: string }) => of(await client.POST('/sales/customers', { body })),
  composite: async (orderId: number, productId: number) =>
    of(await client.GET('/sales/order-details/{orderId},{productId}', { params: { path: { orderId, productId } } })),
  sell: async (ids: string | undefined) =>
    of(await client.POST('/sales/order-details', { params: warnings(ids), body: { orderId: 10427, productId: 75, quantity: 500 } })),
  unsell: async () =>
    of(await client.DELETE('/sales/order-details/{orderId},{productId}', { params: { path: { orderId: 10427, productId: 75 } } })),
  remove: async () => of(await client.DELETE('/sales/customers/{customerId}', { params: { path: { customerId: 'ZZZZZ' } } })),
}
// @ts-expect-error a field that does not exist
void (() => client.GET('/sales/customers', { params: { query: { $sort: ['wrongName'] } } }))
`,
}

const heyApi: Client = {
  name: '@hey-api/openapi-ts',
  generate: () =>
    sample.run('openapi-ts', '-i', sample.file, '-o', 'hey', '-c', '@hey-api/client-fetch'),
  program: `
import { client } from './hey/client.gen'
import { customersDelete, customersGet, customersInsert, customersList, orderDetailsDelete, orderDetailsGet, orderDetailsInsert } from './hey'
client.setConfig({ baseUrl: process.env['URL'] as string, auth: () => process.env['KEY'] as string })
type Reply = { readonly data?: unknown; readonly error?: unknown; readonly response?: Response }
const of = ({ data, error, response }: Reply) => ({ status: response?.status, body: (data ?? error) as any })
const calls = {
  list: async () => of(await customersList({ query: { $limit: 2, $sort: ['-companyName'] } })),
  item: async () => of(await customersGet({ path: { customerId: 'ALFKI' } })),
  insert: async (body: { customerId: string; companyName: string }) => of(await customersInsert({ body })),
  composite: async (orderId: number, productId: number) => of(await orderDetailsGet({ path: { orderId, productId } })),
  sell: async (ids: string | undefined) => of(await orderDetailsInsert({
    body: { orderId: 10427, productId: 75, quantity: 500 },
    ...(ids !== undefined && { headers: { 'X-Svc-Ignore-Warnings': ids } }),
  })),
  unsell: async () => of(await orderDetailsDelete({ path: { orderId: 10427, productId: 75 } })),
  remove: async () => of(await customersDelete({ path: { customerId: 'ZZZZZ' } })),
}
// @ts-expect-error a field that does not exist
void (() => customersList({ query: { $sort: ['wrongName'] } }))
`,
}

const orval: Client = {
  name: 'orval',
  generate: () => {
    const config = {
      sample: {
        input: { target: sample.file },
        output: { target: './orval.ts', client: 'fetch', baseUrl: sample.url, mode: 'single' },
      },
    }
    return sample.run(
      'orval',
      '--config',
      sample.write('orval.config.cjs', `module.exports = ${JSON.stringify(config)}`),
    )
  },
  program: `
import { customersDelete, customersGet, customersInsert, customersList, orderDetailsDelete, orderDetailsGet, orderDetailsInsert } from './orval'
const key = { 'X-API-Key': process.env['KEY'] as string }
const options = { headers: key }
const of = ({ data, status }: { readonly data: unknown; readonly status: number }) => ({ status, body: data as any })
const calls = {
  list: async () => of(await customersList({ $limit: 2, $sort: ['-companyName'] }, options)),
  item: async () => of(await customersGet('ALFKI', options)),
  insert: async (body: { customerId: string; companyName: string }) => of(await customersInsert(body, options)),
  composite: async (orderId: number, productId: number) => of(await orderDetailsGet(orderId, productId, options)),
  sell: async (ids: string | undefined) => of(await orderDetailsInsert(
    { orderId: 10427, productId: 75, quantity: 500 },
    { headers: { ...key, ...(ids !== undefined && { 'X-Svc-Ignore-Warnings': ids }) } },
  )),
  unsell: async () => of(await orderDetailsDelete(10427, 75, options)),
  remove: async () => of(await customersDelete('ZZZZZ', options)),
}
// @ts-expect-error a field that does not exist
void (() => customersList({ $sort: ['wrongName'] }, options))
`,
}

describe.each([fetchClient, heyApi, orval])('the client of $name', (client) => {
  test('compiles under strict, and reads and writes the sample', async () => {
    await client.generate()
    const file = sample.write('program.ts', client.program + story)
    const printed = await sample.compileAndRun(file)
    expect(JSON.parse(printed)).toMatchObject({
      seen: [
        [200, 200],
        [200, 200],
        [200, 200],
        [400, 200],
        [200, 200],
        [400, 400],
        [200, 200],
        [200, 200],
        [200, 200],
      ],
      city: 'Bergen',
      made: 'ZZZZZ',
      field: 'customerId',
      quantity: 5,
    })
  })
})
