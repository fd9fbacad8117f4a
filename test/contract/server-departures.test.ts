import { describe, expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { base, describeContract } from './contract.ts'
import { itemIn } from '../kit/expectations.ts'
import { jsonHeaders, jsonRequest, openLine, requestBytes } from '../kit/host-line.ts'
import { expectNoSockets, expectQuietProcess } from './server-quiet.ts'
import { waitingJournal, waits } from './server-waiting.ts'
import { cells } from '../kit/cells.ts'
import { start } from './running.ts'
import { watched } from './wrapped.ts'

const orders = `${base}/orders`
const server = 1

expectQuietProcess()

describeContract('clients that reset their connections', {}, (contract) => {
  // Without its last byte it would be an item all the same.
  const body = '{"orderId":40,"title":"left"} '
  const whole = requestBytes(`POST ${orders}`, jsonHeaders(body), body)
  const lengthOfHead = whole.length - body.length

  test.each([
    ['at once', 0],
    ['in the head', 30],
    ['before the body', lengthOfHead],
    ['in the body', lengthOfHead + 10],
    ['before the last byte', whole.length - 1],
  ])('%s leave nothing behind', async (_when, length) => {
    await expectNoSockets(server)
    const before = await contract.rows()
    for (let times = 0; times < 6; times++) {
      const line = await openLine(contract.port)
      line.write(whole.subarray(0, length))
      // Some leave after the server has seen the request, some before.
      if (times % 2 === 0) await line.written()
      line.reset()
      await line.ended()
    }
    await expectNoSockets(server)
    expect(await contract.rows()).toEqual(before)
    itemIn(await contract.post('/orders', body))
  })

  test('after a request have it done once, or not at all', async () => {
    await expectNoSockets(server)
    const numbers = Array.from({ length: 20 }, (_, index) => 40 + index)
    for (const orderId of numbers) {
      const line = await openLine(contract.port)
      line.write(jsonRequest(orders, { orderId }))
      line.write(requestBytes(`GET ${orders}`))
      line.write(whole.subarray(0, lengthOfHead + 10))
      if (orderId % 2 === 0) await line.next()
      line.reset()
    }
    await expectNoSockets(server)
    itemIn(await contract.post('/orders', { orderId: 99 }))
    const stored = (await contract.rows())['app/orders']?.map(({ orderId }) => Number(orderId))
    expect(new Set(stored).size).toBe(stored?.length)
    // The changes of successful responses must be stored.
    for (const answered of numbers.filter((number) => number % 2 === 0)) {
      expect(stored).toContain(answered)
    }
  })
})

describe.each(cells)('on $name', (cell) => {
  const waiting = waitingJournal()
  const entry = jsonRequest(`${base}/journal`, { line: waits })

  test('closing waits for handlers whose clients have left', async () => {
    const reports: unknown[] = []
    let transactions = 0
    const counted = watched(cell, (reads) => {
      if (reads === 'a transaction') transactions++
    })
    const { applications } = waiting
    const running = await start(counted, { applications, report: (one) => reports.push(one) })
    const lines = await Promise.all([1, 2, 3].map(() => openLine(running.host.port)))
    transactions = 0
    for (const line of lines) line.write(entry)
    await expect.poll(() => transactions, { interval: 2 }).toBe(3)
    // A handler that waits does not hold up the other writers.
    await waiting.begun(3)
    for (const line of lines) line.reset()
    await expect.poll(waiting.aborted, { interval: 2 }).toBe(3)
    let isClosed = false
    const closed = running.service.close().then(() => (isClosed = true))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(isClosed).toBe(false)
    waiting.release()
    await closed
    expect(reports).toEqual([])
    await running.stop()
  })

  test('closing waits for the authentication of clients that have left', async () => {
    const reports: unknown[] = []
    let began = 0
    let proceed: () => void = () => undefined
    const allowed = new Promise<void>((resolve) => (proceed = resolve))
    const slow: SecurityProvider = {
      name: 'slow',
      priority: 0,
      challenge: 'Slow',
      allowInsecureHttp: true,
      keeps: ['users'],
      find: (request) => {
        const value = request.header('x-slow')
        return value === undefined ? undefined : { place: 'header x-slow', value }
      },
      identify: async ({ value }, { users }) => {
        began += 1
        await allowed
        const found = await users.find(value)
        return found && principal(found.user)
      },
    }
    const options = { security: slow, report: (one: unknown) => reports.push(one) }
    const running = await start(cell, options)
    await running.service.users.add({ user: 'maria' })
    const lines = await Promise.all([1, 2, 3].map(() => openLine(running.host.port)))
    for (const line of lines) line.write(requestBytes(`GET ${orders}`, ['X-Slow: maria']))
    await expect.poll(() => began, { interval: 2 }).toBe(3)
    for (const line of lines) line.reset()
    await Promise.all(lines.map((line) => line.ended()))
    let isClosed = false
    const closed = running.service.close().then(() => (isClosed = true))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(isClosed).toBe(false)
    proceed()
    await closed
    expect(reports).toEqual([])
    await running.stop()
  })

  // Node reads on until there is a response that the client does not read.
  test.skipIf(cell.storage.isRemote)(
    'requests of a client that reads nothing are handled only while its connection has room',
    async () => {
      const size = 150_000
      const asked = 120
      // Node stops after a chunk of what came in: a few of these requests fill it.
      const get = requestBytes(`GET ${base}/customers/LARGE`, [`X-Long: ${'x'.repeat(10_000)}`])
      let reads = 0
      const running = await start(
        watched(cell, (collection) => void (reads += collection === 'app/customers' ? 1 : 0)),
        {},
      )
      const { port } = running.host
      const large = { customerId: 'LARGE', companyName: 'x', extra: 'x'.repeat(size) }
      const good = await openLine(port)
      good.write(jsonRequest(`${base}/customers`, large))
      expect((await good.next()).status).toBe(200)

      reads = 0
      const [idle, lost] = [await openLine(port), await openLine(port)]
      for (const line of [idle, lost]) {
        line.socket.pause()
        for (let count = 0; count < asked; count++) {
          line.write(get)
        }
      }
      for (let count = 0; count < 100; count++) {
        good.write(requestBytes(`GET ${orders}/1`))
        expect(await good.next()).toMatchObject({ status: 200, body: { item: { orderId: 1 } } })
      }
      expect(reads).toBeLessThan(2 * asked)
      lost.reset()
      await lost.ended()
      idle.socket.resume()
      const sizes = (await idle.take(asked)).map(({ body }) => String(body?.item?.['extra']).length)
      expect(sizes).toEqual(Array.from({ length: asked }, () => size))
      await running.service.close()
      await running.stop()
    },
  )
})
