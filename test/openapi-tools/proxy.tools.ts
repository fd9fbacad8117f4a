import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSample, type Sample } from './sample.ts'

let sample: Sample
beforeAll(async () => {
  sample = await openSample()
})
afterAll(() => sample.close())

/** A request of the contract, and the status that it has. */
interface Step {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT'
  readonly path: string
  readonly status: number
  readonly body?: unknown
  readonly key?: 'office' | 'sales' | 'pipeline'
  readonly headers?: Readonly<Record<string, string>>
}

const read = (path: string, status = 200): Step => ({ path, status })
const write = (path: string, body: unknown, status = 200): Step => ({
  method: 'POST',
  path,
  body,
  status,
})

/** Requests for every collection: pages with each parameter, and items. */
function readsOf({ document }: Sample): readonly Step[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    if (get === undefined || path.includes('{') || !path.startsWith('/sales/')) return []
    const { parameters } = get as {
      readonly parameters: readonly {
        readonly name?: string
        readonly schema?: {
          readonly type?: string
          readonly items?: { readonly enum: readonly string[] }
        }
      }[]
    }
    const conditions = parameters.flatMap(({ name = '$', schema }) =>
      name.startsWith('$') || schema?.type !== 'string' || 'format' in schema || 'pattern' in schema
        ? []
        : [read(`${path}?${name}=x`), read(`${path}?${name}=`)],
    )
    const sorts = parameters
      .filter(({ name }) => name === '$sort')
      .flatMap(({ schema }) => schema?.items?.enum ?? [])
    return [
      read(path),
      read(`${path}?$limit=0&$count=true`),
      read(`${path}?$fields=*&$limit=100`),
      read(`${path}?%24limit=2&%24offset=3`),
      read(`${path}?$q=a`),
      ...sorts.map((name) => read(`${path}?$sort=${name}&$limit=3`)),
      ...conditions,
      read(`${path}?unknown=1`, 400),
      read(`${path}?$limit=x`, 400),
      { path, status: 406, headers: { Accept: 'text/html' } },
      { method: 'POST', path, body: '{', status: 400 },
      { method: 'POST', path, body: {}, status: 415, headers: { 'Content-Type': 'text/plain' } },
    ]
  })
}

const customer = { customerId: 'ZZZZZ', companyName: 'Zebra' }
const detail = { orderId: 10427, productId: 75, quantity: 500 }

/** A story that writes, in order. */
const writes: readonly Step[] = [
  read('/sales/customers/ALFKI'),
  read('/sales/customers/XXXXX', 404),
  read('/sales/customers/ALFKI?$fields=*', 400),
  read('/sales/order-details/10248,11'),
  read('/sales/order-details/10248,999', 404),
  write('/sales/customers', customer),
  write('/sales/customers', customer, 400),
  write('/sales/customers', { customerId: 'zz', contactName: 7 }, 400),
  write('/sales/customers', { customerId: 'ZZZZY', companyName: 'Zebra', unknown: 1 }, 400),
  write('/sales/customers/ZZZZZ', { contactName: null, city: 'Bergen' }),
  write('/sales/customers/ZZZZZ', { companyName: null }, 400),
  write('/sales/customers/XXXXX', { city: 'Bergen' }, 404),
  { method: 'DELETE', path: '/sales/customers/ZZZZZ', status: 200 },
  { method: 'DELETE', path: '/sales/customers/ZZZZZ', status: 404 },
  { method: 'DELETE', path: '/sales/customers/ALFKI', status: 409 },
  write('/sales/orders', { customerId: 'ALFKI' }),
  write('/sales/orders', { customerId: 'NONE!', orderDate: '2026-02-30' }, 400),
  write('/sales/products/1', { unitPrice: '1.5' }),
  { ...write('/sales/products/1', { unitPrice: '2' }, 403), key: 'sales' },
  { ...read('/sales/customers/ALFKI', 404), key: 'sales' },
  { ...read('/sales/employees/1'), key: 'office' },
  { ...read('/svc-deploy/metadata'), key: 'pipeline' },
  { ...read('/svc-deploy/release?solutionId=northwind'), key: 'pipeline' },
  { ...read('/svc-deploy/release', 400), key: 'pipeline' },
  {
    ...write('/svc-deploy/release', { solutionId: 'northwind', releaseNotes: 'x' }),
    key: 'pipeline',
  },
  { ...write('/svc-deploy/release-queue', { solutionId: 'northwind' }), key: 'pipeline' },
  { ...write('/svc-deploy/release', { solutionId: 'other' }, 400), key: 'pipeline' },
  { ...read('/svc-deploy/release?solutionId=northwind&$fields=*'), key: 'pipeline' },
  read('/svc-deploy/metadata', 403),
]

/** Starts the validating proxy in front of the sample. */
async function proxied(file: string): Promise<(step: Step) => Promise<Response>> {
  const port = await sample.serve((free) => [
    ...['prism', 'proxy', file, sample.url, '--errors', '--validate-request=false'],
    ...['--port', String(free)],
  ])
  return ({ method = 'GET', path, body, key = 'office', headers }) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'X-API-Key': sample.keys[key],
        Connection: 'close',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
}

test('a validating proxy flags no response of the sample', async () => {
  const ask = await proxied(sample.file)
  const steps = [...readsOf(sample), ...writes]
  const flagged: string[] = []
  for (const step of steps) {
    const response = await ask(step)
    const text = await response.text()
    const isFlagged = response.headers.has('sl-violations') || response.status !== step.status
    if (isFlagged) flagged.push(`${step.method ?? 'GET'} ${step.path}: ${response.status} ${text}`)
  }
  expect(flagged).toEqual([])
  expect(steps.length).toBeGreaterThan(200)
})

test('a warning passes the proxy, and so does its confirmation', async () => {
  const ask = await proxied(sample.file)
  const warned = await ask(write('/sales/order-details', detail))
  const { validations } = (await warned.json()) as {
    readonly validations: readonly { readonly validationId: string }[]
  }
  expect([warned.status, validations.length]).toEqual([400, 1])
  const ids = validations.map(({ validationId }) => `"${validationId}"`).join()
  const headers = { 'X-Svc-Ignore-Warnings': ids }
  expect((await ask({ ...write('/sales/order-details', detail), headers })).status).toBe(200)
})

test('the proxy flags a response that does not fit a wrong schema', async () => {
  const text = JSON.stringify(sample.document)
  const right = '"companyName":{"type":"string"'
  const wrong = text.replaceAll(right, '"companyName":{"type":"integer"')
  expect(wrong).not.toBe(text)
  const ask = await proxied(sample.write('wrong.json', wrong))
  const response = await ask(read('/sales/customers'))
  expect(response.status).toBe(500)
  expect(await response.text()).toContain('VIOLATIONS')
})
