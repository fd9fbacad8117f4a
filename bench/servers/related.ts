import { hash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { createService, defineCollection, integer, text } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { apiKeys } from 'rowgate/security'
import type { Kind } from '../database-time.ts'
import { announce, type Headers } from './announce.ts'
import { send } from './node-http-handler.ts'
import { analyzed, openPlace } from './places.ts'
import { limitOf, unauthorized } from './replies.ts'
import { relatedByHand } from './related-statements.ts'

const orderCount = 20_000
const customerCount = 1_000
const linesEach = 5

const [, , file = '', kindName = '', way = ''] = process.argv
const kind = kindName as Kind
const place = openPlace(kind, file)

const collections = {
  customers: defineCollection({
    key: 'customerId',
    fields: {
      customerId: integer(),
      name: text({ maxLength: 40 }),
      city: text({ maxLength: 20 }),
    },
  }),
  orders: defineCollection({
    key: 'orderId',
    fields: {
      orderId: integer(),
      customerId: integer({ references: 'customers' }),
      status: text({ maxLength: 10 }),
      note: text({ maxLength: 40 }),
    },
    operators: { orderId: ['gte'] },
    expand: { customer: 'customerId', lines: { from: 'lines', limit: 10 } },
  }),
  lines: defineCollection({
    key: ['orderId', 'lineNo'],
    fields: {
      orderId: integer({ references: 'orders' }),
      lineNo: integer(),
      product: text({ maxLength: 20 }),
      quantity: integer(),
    },
  }),
}

const service = createService({
  applications: { sales: { collections } },
  storage: place.storage(),
  security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
  cache: false,
  report: false,
})

async function fill(): Promise<void> {
  const { run, numbers, quoted } = place
  const text = (...parts: readonly string[]) =>
    kind === 'mysql' ? `concat(${parts.join(', ')})` : parts.join(' || ')
  const names = (all: readonly string[]) => all.map(quoted).join(', ')
  await run(`insert into customers (${names(['customerId', 'name', 'city'])})
    select n, ${text("'Customer '", 'n')}, ${text("'City '", '(n % 50)')} from ${numbers(customerCount)}`)
  await run(`insert into orders (${names(['orderId', 'customerId', 'status', 'note'])})
    select n, n * 7 % ${customerCount} + 1, 'open', ${text("'Note of order '", 'n')} from ${numbers(orderCount)}`)
  await run(`insert into ${quoted('lines')} (${names(['orderId', 'lineNo', 'product', 'quantity'])})
    select o.${quoted('orderId')}, s.n, ${text("'Product '", 's.n')}, 1 + o.${quoted('orderId')} % 9
    from orders as o, ${numbers(linesEach)}`)
  for (const statement of analyzed(kind, Object.keys(collections))) await run(statement)
}

async function serveService(): Promise<void> {
  await service.users.add({ user: 'bench' })
  const { key } = await service.keys.create({ user: 'bench' })
  announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), { 'x-api-key': key })
}

const digest = (key: string): string => hash('sha256', key, 'base64url')

/** Serves pages by statements that are written by hand, behind a check of keys by one of its own. */
async function serveByHand(): Promise<void> {
  const key = randomBytes(32).toString('base64url')
  const length = kind === 'mysql' ? 'varchar(43) character set ascii collate ascii_bin' : 'text'
  await place.run(`create table bench_keys (hash ${length} primary key, enabled integer not null)`)
  await place.run(`insert into bench_keys values ('${digest(key)}', 1)`)
  const slot = kind === 'postgres' ? '$1' : '?'
  const find = `select enabled from bench_keys where hash = ${slot}`
  const pages = relatedByHand(kind, place)
  const headers: Headers = { 'x-api-key': key }

  async function reply(target: string, given: unknown): Promise<string | undefined> {
    if (typeof given !== 'string') return undefined
    const [found] = await place.run(find, [digest(given)])
    if (found?.[0] !== 1) return undefined
    const query = new URLSearchParams(target.slice(target.indexOf('?') + 1))
    const page = {
      limit: limitOf(query.get('$limit')),
      from: Number(query.get('orderId.gte') ?? 1),
    }
    const name = query.has('$expand') ? (way === 'three' ? 'three' : 'one') : 'alone'
    const items = await pages[name](page)
    return `{"items":${items},"count":null,"message":null,"validations":[],"status":200}`
  }

  const server = createServer((request, response) => {
    void reply(request.url ?? '', request.headers['x-api-key']).then(
      (text) => {
        if (text === undefined) return send(response, 401, unauthorized)
        const length = Buffer.byteLength(text)
        const type = 'application/json; charset=utf-8'
        response.writeHead(200, { 'Content-Type': type, 'Content-Length': length })
        response.end(text)
      },
      (error: unknown) => send(response, 500, { message: String(error) }),
    )
  })
  announce(server.listen(0, '127.0.0.1'), headers)
}

await service.ready()
await fill()
if (way === 'service') await serveService()
else await serveByHand()
