import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { system } from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { send, withServices } from '../kit/service.ts'
import { localStorages } from '../kit/storages.ts'
import { visitors } from '../kit/visitors.ts'
import { application, auditor, clerk, guest, stranger } from './sales.ts'

// EXPAND_RUNS=20000 runs a long search.
const runs = Number(process.env['EXPAND_RUNS'] ?? 60)
const requestsPerRun = 20

type Item = Readonly<Record<string, unknown>>

const id = fc.integer({ min: 1, max: 4 })
const reference = fc.option(id)
const data = fc.record({
  customers: fc.uniqueArray(
    fc.record({
      id,
      name: fc.option(fc.string({ maxLength: 4 }).filter((text) => !text.includes('\0'))),
      city: fc.constantFrom('Oslo', 'Rome'),
      credit: fc.option(fc.integer({ min: 0, max: 9 })),
    }),
    { selector: (row) => row.id, minLength: 4, maxLength: 4 },
  ),
  orders: fc.uniqueArray(
    fc.record({
      orderId: fc.integer({ min: 1, max: 9 }),
      customerId: reference,
      payerId: reference,
      data: fc.json({ maxDepth: 1 }).map((json) => JSON.parse(json) as never),
    }),
    { selector: (row) => row.orderId, maxLength: 8 },
  ),
  lines: fc.uniqueArray(
    fc.record({ orderId: fc.integer({ min: 1, max: 9 }), lineNo: fc.integer({ min: 0, max: 30 }) }),
    { selector: (row) => `${row.orderId} ${row.lineNo}`, maxLength: 60 },
  ),
})

const request = fc.record({
  who: fc.constantFrom(auditor, clerk, guest, stranger),
  relations: fc.subarray(['customer', 'payer', 'lines'], { minLength: 1 }),
  query: fc.constantFrom('', '&$limit=3', '&$sort=-orderId', '&$fields=orderId', '&$fields=*'),
})

describe.each([...localStorages, ...serverStorages])('on $name', (storage) => {
  test('$expand has the bytes of requests of their own', { timeout: 3_600_000 }, () =>
    withServices(storage, async (open) => {
      const { service } = open(application, { security: visitors, ignoredReport: 'forbidden' })
      const get = async (who: typeof auditor, path: string): Promise<string> =>
        (await send(service, { method: 'GET', path, headers: who })).text
      const itemsOf = async (who: typeof auditor, path: string): Promise<readonly Item[]> =>
        (JSON.parse(await get(who, path)) as { items?: readonly Item[] }).items ?? []

      /** Returns what a relation of an order should have, read by a request of its own. */
      async function related(who: typeof auditor, order: Item, name: string): Promise<unknown> {
        if (name === 'lines') {
          const lines = await itemsOf(who, `/lines?orderId=${String(order['orderId'])}&$limit=21`)
          return { items: lines.slice(0, 20), more: lines.length > 20 }
        }
        const key = order[name === 'customer' ? 'customerId' : 'payerId']
        if (key === null) return null
        return (await itemsOf(who, `/customers?id=${String(key)}`))[0] ?? null
      }

      await fc.assert(
        fc.asyncProperty(
          data,
          fc.array(request, { minLength: requestsPerRun, maxLength: requestsPerRun }),
          async (rows, requests) => {
            const own = service.as(system)
            for (const name of ['lines', 'orders', 'customers'])
              await own.collection('app', name).deleteMany({})
            const known = new Set(rows.orders.map(({ orderId }) => orderId))
            const lines = rows.lines.filter(({ orderId }) => known.has(orderId))
            const { customers, orders } = rows
            for (const [name, items] of Object.entries({ customers, orders, lines })) {
              const saved = await own.collection('app', name).insertMany(items)
              expect([name, saved.rejected]).toEqual([name, false])
            }
            for (const { who, relations, query } of requests) {
              const found = await get(who, `/orders?$expand=${relations.join()}${query}`)
              if (who === guest && relations.includes('lines')) {
                expect(found).toContain('Unknown relation in $expand: ')
                continue
              }
              const plain = JSON.parse(await get(who, `/orders?${query}`)) as {
                items: readonly Item[]
              }
              const whole = await itemsOf(
                who,
                `/orders?$fields=*${query.replace(/&\$fields=.*/, '')}`,
              )
              const items = await Promise.all(
                plain.items.map(async (item, index) => {
                  const members = relations.map(async (name) => [
                    name,
                    await related(who, whole[index] as Item, name),
                  ])
                  return { ...item, ...(Object.fromEntries(await Promise.all(members)) as Item) }
                }),
              )
              expect(found).toBe(JSON.stringify({ ...plain, items }))
            }
          },
        ),
        { numRuns: Math.max(1, Math.round(runs / requestsPerRun)) },
      )
    }),
  )
})
