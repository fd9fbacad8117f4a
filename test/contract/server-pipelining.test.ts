import { expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import { jsonRequest, openLine, requestBytes } from '../kit/host-line.ts'
import { expectQuietProcess } from './server-quiet.ts'

const orders = `${base}/orders`
const journal = `${base}/journal`
const json = 'Content-Type: application/json'

/** A request, and the expected content of its response. */
interface Step {
  readonly bytes: Uint8Array
  readonly answer: object
}

const large = ' '.repeat(1_100_000)

expectQuietProcess()

describeContract('pipelining', {}, (contract) => {
  const numbers = Array.from({ length: 12 }, (_, index) => 200 + index)
  const steps = numbers.flatMap(stepsOf)
  const answers = steps.map(({ answer }) => answer)
  const stream = Buffer.concat(steps.map(({ bytes }) => bytes))

  test('reads, saves and errors of all kinds have their responses in order', async () => {
    const line = await openLine(contract.port)
    line.write(stream)
    expect(await line.take(steps.length)).toMatchObject(answers)
    await expectStored()
    line.finish()
    expect(await line.ended()).toEqual([])
  })

  test.each([61, 997, 4099])('also in pieces of %i bytes', async (size) => {
    const line = await openLine(contract.port)
    for (let from = 0; from < stream.length; from += size) {
      line.write(stream.subarray(from, from + size))
      if (from % 7 === 0) await line.written()
    }
    expect(await line.take(steps.length)).toMatchObject(answers)
    await expectStored()
    line.finish()
    expect(await line.ended()).toEqual([])
  })

  test('requests after a body that was rejected before its end are not handled', async () => {
    const before = await contract.rows()
    const line = await openLine(contract.port)
    line.write(requestBytes(`GET ${orders}/1`))
    line.write(requestBytes(`POST ${orders}`, [json, `Content-Length: ${large.length}`], large))
    line.write(jsonRequest(orders, { orderId: 300 }))
    expect((await line.ended()).map(({ status }) => status)).toEqual([200, 413])
    expect(await contract.rows()).toEqual(before)
  })

  test('requests after one that closes the connection are not handled', async () => {
    const before = await contract.rows()
    const line = await openLine(contract.port)
    const last = requestBytes(`GET ${orders}/1`, ['Connection: close'])
    line.write(Buffer.concat([last, jsonRequest(orders, { orderId: 301 })]))
    for (const { status } of await line.ended()) expect([200, 400]).toContain(status)
    expect(await contract.rows()).toEqual(before)
  })

  async function expectStored(): Promise<void> {
    const rows = await contract.rows()
    expect(rows['app/orders']?.map(({ orderId }) => orderId)).toEqual([1, 2, 3, ...numbers])
    expect(rows['app/journal']?.map(({ level }) => level)).toEqual([1, 2, 2, ...numbers])
  }
})

function stepsOf(number: number): readonly Step[] {
  const order = { orderId: number, title: `order ${number}` }
  const entry = { line: 'entry', level: number }
  const malformed = ['Content-Type: application/json', 'Content-Length: 7']
  const step = (bytes: Uint8Array, status: number, item?: object): Step => ({
    bytes,
    answer: { status, ...(item && { body: { item } }) },
  })
  return [
    step(jsonRequest(orders, order), 200, order),
    step(requestBytes(`GET ${orders}/1`), 200, { orderId: 1 }),
    step(
      requestBytes(`POST ${orders}`, ['Content-Type: text/plain', 'Content-Length: 3'], 'GET'),
      415,
    ),
    step(jsonRequest(journal, entry), 200, entry),
    step(jsonRequest(`${base}/nope`, order), 404),
    step(requestBytes(`GET ${orders}/2`), 200, { orderId: 2 }),
    step(requestBytes(`POST ${orders}`, malformed, '{"a":1]'), 400),
    step(jsonRequest(orders, { orderId: -number, quantity: -1 }), 400, { orderId: -number }),
    step(requestBytes(`PUT ${orders}`, ['Content-Length: 5'], 'GET /'), 405),
    step(requestBytes(`DELETE ${orders}/999`), 404),
    step(requestBytes(`GET ${orders}/3`), 200, { orderId: 3 }),
  ]
}
