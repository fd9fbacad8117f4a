import { describe, expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'
import { jsonHeaders, jsonRequest, openLine, requestBytes, type Line } from '../kit/host-line.ts'
import { expectQuietProcess } from './server-quiet.ts'
import { cells } from '../kit/cells.ts'
import { start } from './running.ts'

const target = `${base}/orders`
/** A body that would be an item without its end, too. */
const text = (orderId: number) => `${JSON.stringify({ orderId, title: 'slow' })}     `
/** How much of a body its client holds back. */
const held = 5

expectQuietProcess()

describeContract('slow bodies', {}, (contract) => {
  test('a request that comes byte by byte, head and body, is one request', async () => {
    const line = await openLine(contract.port)
    await line.trickle(jsonRequest(target, { orderId: 20, title: 'bytes' }).toString())
    expect(await line.next()).toMatchObject({ status: 200, body: { item: { orderId: 20 } } })
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const chunks = Array.from(text(21), (letter) => `1\r\n${letter}\r\n`)
    const head = requestBytes(`POST ${target}`, chunked).toString()
    await line.trickle(`${head}${chunks.join('')}0\r\n\r\n`)
    expect(await line.next()).toMatchObject({ status: 200, body: { item: { orderId: 21 } } })
    line.finish()
    expect(await line.ended()).toEqual([])
    const titles = (await contract.rows())['app/orders']?.map(({ title }) => title)
    expect(titles).toEqual(['first', 'locked', null, 'bytes', 'slow'])
  })

  test('slow bodies delay no other request, and are stored when complete', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => 100 + index)
    const lines = await Promise.all(numbers.map((number) => beginBody(contract.port, number)))
    for (const orderId of [20, 21, 22]) {
      itemIn(await contract.post('/orders', { orderId, title: 'quick' }))
      itemIn(await contract.post(`/orders/${orderId}`, { quantity: 5 }))
      itemIn(await contract.delete(`/orders/${orderId}`))
      expect(itemsIn(await contract.get('/orders'))).toHaveLength(3)
    }
    const answers = await Promise.all(
      lines.map(async (line, index) => {
        if (index % 3 === 0) line.write(text(numbers[index] ?? 0).slice(-held))
        else if (index % 3 === 1) line.finish()
        else line.reset()
        if (index % 3 !== 0) return line.ended()
        const answer = await line.next()
        line.finish()
        return [answer, ...(await line.ended())]
      }),
    )
    for (const [index, received] of answers.entries()) {
      const statuses = received.map(({ status }) => status)
      if (index % 3 === 0) expect(statuses).toEqual([200])
      else for (const status of statuses) expect(status).toBe(400)
    }
    const stored = (await contract.rows())['app/orders']?.map(({ orderId }) => orderId)
    expect(stored).toEqual([1, 2, 3, ...numbers.filter((_, index) => index % 3 === 0)])
  })

  test('a body that is larger than allowed is rejected while it is still on its way', async () => {
    const line = await openLine(contract.port)
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    line.write(requestBytes(`POST ${target}`, chunked))
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    for (let count = 0; count < 17; count++) line.write(chunk)
    expect(await line.next()).toMatchObject({ status: 413 })
    line.reset()
    await line.ended()
    expectError(await contract.get('/orders/20'), 404)
  })
})

describe.each(cells)('closing on $name', (cell) => {
  test('does not wait for a body: a later request gets 503', async () => {
    const reports: string[] = []
    const running = await start(cell, { report: ({ type }) => reports.push(type) })
    const { port } = running.host
    const [line, other] = [await beginBody(port, 20), await beginBody(port, 21)]
    await running.service.close()
    line.write(text(20).slice(-held))
    expect(await line.next()).toMatchObject({ status: 503, body: { status: 503 } })
    other.reset()
    await other.ended()
    line.write(requestBytes(`GET ${target}`))
    expect(await line.next()).toMatchObject({ status: 503 })
    line.finish()
    expect(await line.ended()).toEqual([])
    expect(reports).toEqual([])
    await running.stop()
  })
})

/** Sends the head of an Insert and most of its body. */
async function beginBody(port: number, orderId: number): Promise<Line> {
  const line = await openLine(port)
  const body = text(orderId)
  line.write(requestBytes(`POST ${target}`, jsonHeaders(body), body.slice(0, -held)))
  return line
}
