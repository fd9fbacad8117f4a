import { expect, test } from 'vitest'
import { base, describeContract, type Contract } from './contract.ts'
import { jsonHeaders, jsonRequest, openLine, requestBytes } from '../kit/host-line.ts'
import { expectNoSockets, expectQuietProcess, openSockets } from './server-quiet.ts'
import { plainKeys } from '../kit/keys.ts'

const json = 'Content-Type: application/json'
const orders = `${base}/orders`
const expectation = 'Expect: 100-continue'
/** What a client sends as a body although it was rejected: another request, by its looks. */
const hidden = jsonRequest(orders, { orderId: 50 })

/** Rejected before the body is looked at: a request line, its headers, its status. */
const rejections: readonly (readonly [string, readonly string[], number])[] = [
  [`POST ${base}/nope`, [json], 404],
  [`POST ${base}/countries`, [json], 405],
  [`PUT ${orders}`, [json], 405],
  [`POST ${orders}`, [json, 'Accept: text/html'], 406],
  [`POST ${orders}`, ['Content-Type: text/plain'], 415],
  [`POST ${orders}`, [json, 'Content-Encoding: gzip'], 415],
]

expectQuietProcess()

describeContract('Expect: 100-continue', {}, (contract) => {
  test.each(rejections)(
    '%s with %j is rejected with %i, body or no body',
    async (line, headers, status) => {
      await checkRefusal(contract, line, headers, status)
    },
  )

  test('a body that is announced as too large is rejected before it is sent', async () => {
    const line = await openLine(contract.port)
    line.write(requestBytes(`POST ${orders}`, [json, expectation, 'Content-Length: 2000000']))
    expect((await line.take(2)).map(({ status }) => status)).toEqual([100, 413])
    line.write(Buffer.alloc(2_000_000, hidden))
    expect(await line.ended()).toEqual([])
  })

  test('a body that is awaited is stored, also when it comes in pieces or in chunks', async () => {
    const line = await openLine(contract.port)
    const body = '{"orderId":51}'
    line.write(requestBytes(`POST ${orders}`, [...jsonHeaders(body), expectation]))
    expect(await line.next()).toMatchObject({ status: 100 })
    await line.trickle(body)
    expect(await line.next()).toMatchObject({ status: 200, body: { item: { orderId: 51 } } })
    const chunked = [json, 'Transfer-Encoding: chunked', expectation]
    line.write(requestBytes(`POST ${orders}`, chunked))
    expect(await line.next()).toMatchObject({ status: 100 })
    line.write('e\r\n{"orderId":52}\r\n0\r\n\r\n')
    expect(await line.next()).toMatchObject({ status: 200, body: { item: { orderId: 52 } } })
    line.finish()
    expect(await line.ended()).toEqual([])
  })

  test('clients that disconnect after 100 Continue store nothing', async () => {
    const before = [await contract.rows(), openSockets()] as const
    for (const leave of ['finish', 'reset'] as const) {
      const line = await openLine(contract.port)
      line.write(requestBytes(`POST ${orders}`, [json, expectation, 'Content-Length: 14']))
      expect(await line.next()).toMatchObject({ status: 100 })
      line[leave]()
      for (const { status } of await line.ended()) expect(status).toBe(400)
    }
    await expectNoSockets(before[1])
    expect(await contract.rows()).toEqual(before[0])
  })
})

describeContract('Expect: 100-continue without a key', { security: plainKeys() }, (contract) => {
  test('is rejected with 401, body or no body', async () => {
    await checkRefusal(contract, `POST ${orders}`, [json], 401)
    const rejected = { type: 'credential-rejected', reason: 'missing' }
    expect(contract.reports()).toMatchObject([rejected, rejected, rejected])
  })
})

/**
 * The body is sent after the response, at once, or never: it is not a request, and nothing is stored. The
 * connection serves on only if the body had arrived when the response was sent.
 */
async function checkRefusal(
  contract: Contract,
  requestLine: string,
  headers: readonly string[],
  expected: number,
): Promise<void> {
  const before = await contract.rows()
  const own = [...headers, expectation, `Content-Length: ${hidden.length}`]
  const head = requestBytes(requestLine, own)
  const next = requestBytes(`PUT ${orders}`)

  const patient = await openLine(contract.port)
  patient.write(head)
  expect((await patient.take(2)).map(({ status }) => status)).toEqual([100, expected])
  patient.write(Buffer.concat([hidden, next]))
  const hasty = await openLine(contract.port)
  hasty.write(Buffer.concat([head, hidden, next]))
  const silent = await openLine(contract.port)
  silent.write(head)
  for (const line of [hasty, silent]) {
    expect((await line.take(2)).map(({ status }) => status)).toEqual([100, expected])
  }
  for (const line of [patient, silent]) expect(await line.ended()).toEqual([])
  expect((await hasty.next()).status).toBe(405)
  hasty.finish()
  expect(await hasty.ended()).toEqual([])
  expect(await contract.rows()).toEqual(before)
}
