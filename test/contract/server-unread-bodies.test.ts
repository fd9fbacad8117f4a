import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { statusesIn } from '../kit/http-client.ts'
import { base, describeContract, type Contract } from './contract.ts'
import { openLine, requestBytes } from '../kit/host-line.ts'
import { expectQuietProcess } from './server-quiet.ts'
import { plainKeys } from '../kit/keys.ts'

const orders = `${base}/orders`
const json = 'Content-Type: application/json'
const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
const endless = 'Transfer-Encoding: chunked'

const rejected: readonly (readonly [line: string, header: string, status: number])[] = [
  [`PUT ${orders}`, json, 405],
  [`POST ${base}/nope`, json, 404],
  [`POST ${orders}`, 'Content-Type: text/plain', 415],
  [`POST ${orders}`, json, 413],
  [`GET ${base}/%zz`, json, 400],
]

expectQuietProcess()

describeContract('bodies that are not read to their end', {}, (contract) => {
  test.each(rejected)('%s with %s and an endless body: %#', async (line, header, status) => {
    await checkEndless(contract, requestBytes(line, [header, endless]), status)
  })

  test('a client that sends the rest later receives the response, and the connection is closed', async () => {
    const line = await openLine(contract.port)
    line.write(requestBytes(`PUT ${orders}`, ['Content-Length: 100']))
    expect((await line.next()).status).toBe(405)
    expect(await line.ended()).toEqual([])
  })

  test('a connection stays open if the body has arrived', async () => {
    const line = await openLine(contract.port)
    for (const requestLine of [`PUT ${orders}`, `POST ${base}/nope`]) {
      line.write(requestBytes(requestLine, [json, 'Content-Length: 2'], '{}'))
      expect([404, 405]).toContain((await line.next()).status)
    }
    line.finish()
    expect(await line.ended()).toEqual([])
  })
})

describeContract('unread bodies without a key', { security: plainKeys() }, (contract) => {
  test('401 closes the connection', async () => {
    await checkEndless(contract, requestBytes(`POST ${orders}`, [json, endless]), 401)
    expect(contract.reports()).toHaveLength(1)
  })
})

/** Sends chunks for as long as the server takes them. */
async function checkEndless(contract: Contract, head: Uint8Array, status: number): Promise<void> {
  const begun = performance.now()
  const socket = connect({ port: contract.port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (data) => (received += data.toString('latin1')))
  socket.on('error', () => undefined)
  let isGone = false
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isGone = true
      resolve()
    })
  })
  const send = () => {
    while (!isGone && socket.write(chunk));
  }
  socket.on('drain', send)
  socket.write(head)
  send()
  await gone
  // What the sockets of both sides hold is not read by the server.
  expect(socket.bytesWritten).toBeLessThan(48 * 1024 * 1024)
  expect(performance.now() - begun).toBeLessThan(15_000)
  expect(statusesIn(received)).toEqual([status])
  expect(received).toMatch(/^connection: close\r$/im)
  expect(received.slice(received.indexOf('\r\n\r\n'))).toContain(`"status":${status}}`)
}
