import { expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import { jsonHeaders, jsonRequest, openLine, requestBytes } from '../kit/host-line.ts'
import { expectQuietProcess } from './server-quiet.ts'
import { waitingJournal, waits } from './server-waiting.ts'

const json = 'Content-Type: application/json'
const orders = `${base}/orders`
const waiting = waitingJournal()

expectQuietProcess()

describeContract('half-closed sockets', { applications: waiting.applications }, (contract) => {
  /** Sends bytes and a FIN behind them, and reads until the server ends the connection as well. */
  async function sendAndFinish(...parts: readonly (string | Uint8Array)[]) {
    const line = await openLine(contract.port)
    for (const part of parts) line.write(part)
    line.finish()
    return line.ended()
  }

  // While the storage works, Node ends the connection, as it does while a handler works.
  const isLate = contract.cell.storage.isRemote === true

  test.skipIf(isLate)(
    'a client that has half-closed its connection receives the complete response',
    async () => {
      const read = await sendAndFinish(requestBytes(`GET ${orders}/1`))
      expect(read).toMatchObject([{ status: 200, body: { item: { orderId: 1 } } }])
      const saved = await sendAndFinish(jsonRequest(orders, { orderId: 30 }))
      expect(saved).toMatchObject([{ status: 200, body: { item: { orderId: 30 } } }])
      const removed = await sendAndFinish(requestBytes(`DELETE ${orders}/30`))
      expect(removed).toMatchObject([{ status: 200 }])
      expect(await sendAndFinish(requestBytes(`GET ${base}/nope`))).toMatchObject([{ status: 404 }])
    },
  )

  test.skipIf(isLate)('also to all requests that it sent at once', async () => {
    const answers = await sendAndFinish(
      requestBytes(`GET ${orders}/1`),
      jsonRequest(orders, { orderId: 31 }),
      requestBytes(`PUT ${orders}`),
      requestBytes(`GET ${orders}/2`),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 405, 200])
    expect(answers[3]?.body).toMatchObject({ item: { orderId: 2 } })
  })

  test.each([
    ['a head', requestBytes(`POST ${orders}`, [json]).subarray(0, -4)],
    ['a head before its body', requestBytes(`POST ${orders}`, [json, 'Content-Length: 14'])],
    ['a body', requestBytes(`POST ${orders}`, [json, 'Content-Length: 15'], '{"orderId":32}')],
    [
      'chunks',
      requestBytes(
        `POST ${orders}`,
        [json, 'Transfer-Encoding: chunked'],
        'e\r\n{"orderId":32}\r\n',
      ),
    ],
    [
      'a chunk',
      requestBytes(`POST ${orders}`, [json, 'Transfer-Encoding: chunked'], 'f\r\n{"orderId":32}'),
    ],
  ])('in the middle of %s it ends the connection, and nothing is stored', async (_what, bytes) => {
    const before = await contract.rows()
    for (const { status } of await sendAndFinish(bytes)) expect(status).toBe(400)
    const [...answers] = await sendAndFinish(requestBytes(`GET ${orders}/1`), bytes)
    if (!isLate) {
      expect(answers.shift()).toMatchObject({ status: 200, body: { item: { orderId: 1 } } })
    }
    for (const { status } of answers) expect(status).toBe(400)
    expect(await contract.rows()).toEqual(before)
  })

  test('an idle connection ends', async () => {
    const line = await openLine(contract.port)
    line.finish()
    expect(await line.ended()).toEqual([])
    const used = await openLine(contract.port)
    used.write(jsonRequest(orders, { orderId: 33 }))
    expect(await used.next()).toMatchObject({ status: 200 })
    used.finish()
    expect(await used.ended()).toEqual([])
  })

  // Node ends the connection then: its servers take a half-closed client for one that has left.
  test('while a handler works it counts as a disconnect: the signal is aborted, the work is done once', async () => {
    const body = JSON.stringify({ line: waits, level: 34 })
    const line = await openLine(contract.port)
    line.write(requestBytes(`POST ${base}/journal`, jsonHeaders(body), body))
    await waiting.begun(1)
    line.finish()
    await expect.poll(waiting.aborted, { interval: 2 }).toBe(1)
    waiting.release()
    expect(await line.ended()).toEqual([])
    await expect.poll(() => levels(34), { interval: 2 }).toBe(1)
  })

  async function levels(level: number): Promise<number> {
    const rows = (await contract.rows())['app/journal'] ?? []
    return rows.filter((row) => row['level'] === level).length
  }
})
