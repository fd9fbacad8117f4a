import { describe, expect, test } from 'vitest'
import { startTelemetry } from '../../src/entries/otel.ts'
import type { Request } from '../kit/http-client.ts'
import { base } from '../contract/contract.ts'
import { cells, type Cell } from '../kit/cells.ts'
import { start, type Options } from '../contract/running.ts'
import { listen } from '../kit/listen.ts'

const json = { 'Content-Type': 'application/json' }
const get = (path: string): Request => ({ method: 'GET', target: base + path })
const post = (path: string, body: unknown, headers = {}): Request => ({
  method: 'POST',
  target: base + path,
  headers: { ...json, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** Reads, saves and rejections of all kinds, one after the other. */
const script: readonly Request[] = [
  get('/customers'),
  get('/customers?$limit=3&$count=true&$sort=-city&$fields=city,country&$q=a'),
  get('/customers/ALFKI'),
  get('/lines/1,abc'),
  get('/customers/NOONE'),
  get('/customers?nope=1'),
  get('/nothing'),
  get('/customers/%zz'),
  { method: 'PUT', target: `${base}/customers` },
  post('/orders', { orderId: 10, title: 'ten', quantity: 7 }),
  post('/orders', { orderId: 11, title: 'eleven', quantity: -1 }),
  post('/orders', { orderId: 12, title: 'twelve', quantity: 101 }),
  post('/orders', { orderId: 10, title: 'twice' }),
  post('/orders/10', { quantity: 8 }),
  post('/orders/99', { quantity: 8 }),
  post('/orders', '{"orderId":'),
  post('/orders', 'a=b', { 'Content-Type': 'text/plain' }),
  post('/journal', { line: 'c' }),
  { method: 'DELETE', target: `${base}/orders/2` },
  { method: 'DELETE', target: `${base}/orders/10` },
  { method: 'DELETE', target: `${base}/orders/10` },
  get('/orders'),
]

/** The exact responses of a service to the script, and its stored rows afterwards. */
async function play(cell: Cell, options: Options = {}) {
  const { send, dump, stop } = await start(cell, options)
  const answers: unknown[] = []
  for (const request of script) {
    const { status, headers, bytes } = await send(request)
    const { date: _date, ...kept } = headers
    answers.push({ request, status, headers: kept, text: bytes.toString('latin1') })
  }
  const rows = await dump()
  await stop()
  return { answers, rows }
}

describe.each(cells.filter(({ binding }) => binding.name === 'node'))('on $name', (cell) => {
  test('responses are the same with and without subscribers', async () => {
    const alone = await play(cell)
    const entries: object[] = []
    const listening = listen()
    expect(await play(cell, { log: (entry) => void entries.push(entry) })).toEqual(alone)
    expect(listening.ended('request')).toHaveLength(script.length)
    expect(entries).toHaveLength(script.length)
    listening.stop()

    const telemetry = startTelemetry()
    expect(await play(cell)).toEqual(alone)
    telemetry.stop()
    expect(new Set(alone.answers.map((answer) => (answer as { status: number }).status))).toEqual(
      new Set([200, 400, 404, 405, 415]),
    )
  })
})
