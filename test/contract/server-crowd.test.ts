import { expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import { itemIn } from '../kit/expectations.ts'
import {
  jsonRequest,
  openLine,
  requestBytes,
  type Line,
  type LineAnswer,
} from '../kit/host-line.ts'
import { expectNoSockets, expectQuietProcess, openSockets } from './server-quiet.ts'

const size = 1000
/** So few that they fit the queue of a listening server: for the others the system waits a second. */
const batch = 250
/** The sockets of this process without connections: the listening one. */
const server = 1
const numbers = Array.from({ length: size }, (_, index) => 1000 + index)

expectQuietProcess()

describeContract('a crowd', {}, (contract) => {
  test(
    'of 1,000 connections that are kept alive is served, each with its own answers',
    { timeout: 60_000 },
    async () => {
      await expectNoSockets(server)
      const lines: Line[] = []
      while (lines.length < size) {
        lines.push(...(await openLines(batch)))
        // Each connection has two ends in this process.
        await expect.poll(openSockets, { interval: 1 }).toBe(server + 2 * lines.length)
      }
      const repeats = await Promise.all(
        lines.map((line, index) => saveAndRead(line, numbers[index] ?? 0)),
      )
      // Each 503 was reported, and nothing else.
      const reports = contract.reports().map(({ type }) => type)
      const unavailable = repeats.reduce((total, count) => total + count, 0)
      expect(reports).toEqual(Array.from({ length: unavailable }, () => 'storage-unavailable'))

      const rows = await contract.rows()
      const stored = rows['app/orders']?.map(({ orderId }) => orderId)
      expect(stored).toEqual([1, 2, 3, ...numbers])
      const levels = rows['app/journal']?.map(({ level }) => Number(level)) ?? []
      expect(levels.sort((one, other) => one - other)).toEqual([1, 2, 2, ...numbers])

      // Some leave as they should, some as they should not.
      for (const [index, line] of lines.entries()) {
        if (index % 3 === 0) line.finish()
        else if (index % 3 === 1) line.reset()
        else line.socket.destroy()
      }
      await Promise.all(lines.map((line) => line.ended()))
      await expectNoSockets(server)
      itemIn(await contract.get('/orders/1'))
    },
  )

  function openLines(count: number): Promise<readonly Line[]> {
    return Promise.all(Array.from({ length: count }, () => openLine(contract.port)))
  }
})

/** Returns how many requests had to be sent again. */
async function saveAndRead(line: Line, number: number): Promise<number> {
  const order = { orderId: number, title: `order ${number}`, quantity: null }
  const entry = { line: `line ${number}`, level: number }
  let repeats = 0
  // On a slow machine, a write that has waited for two seconds is given up, and may be sent again.
  const ask = async (bytes: Uint8Array): Promise<LineAnswer> => {
    line.write(bytes)
    const answer = await line.next()
    if (answer.status !== 503) return answer
    repeats++
    return ask(bytes)
  }
  const saved = { status: 200, body: { item: order } }
  expect(await ask(jsonRequest(`${base}/orders`, order))).toMatchObject(saved)
  expect(await ask(requestBytes(`GET ${base}/orders/${number}`))).toMatchObject(saved)
  const added = await ask(jsonRequest(`${base}/journal`, entry))
  expect(added).toMatchObject({ status: 200, body: { item: entry } })
  return repeats
}
