import { createServer, request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestTls } from 'node:https'
import { afterEach, describe, expect, test } from 'vitest'
import { toNodeHandler, type NodeHandlerOptions } from '../../src/entries/node.ts'
import type { Observation } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { startTls } from '../kit/tls.ts'
import { base, describeContract } from './contract.ts'
import { expectError, itemsIn } from '../kit/expectations.ts'
import { flipped, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { cells, type Cell } from '../kit/cells.ts'
import { start } from './running.ts'
import { watched } from './wrapped.ts'
import { openServer } from '../kit/server.ts'

const strictKeys = apiKeys({ name: 'keys' })

/** Everything by which a client may say that it came over TLS. */
const spoofs: readonly Readonly<Record<string, string>>[] = [
  { 'X-Forwarded-Proto': 'https' },
  { Forwarded: 'proto=https;for=203.0.113.9' },
  { 'X-Forwarded-Ssl': 'on' },
  { 'Front-End-Https': 'on' },
  { 'X-Url-Scheme': 'https' },
  { 'X-Forwarded-Protocol': 'ssl' },
  { 'X-Forwarded-Scheme': 'https', 'X-Scheme': 'https', 'X-Forwarded-Port': '443' },
  { 'X-Arr-Ssl': '2048', 'Cf-Visitor': '{"scheme":"https"}', 'Upgrade-Insecure-Requests': '1' },
]

describeContract('a key over plain HTTP', { security: strictKeys }, (contract) => {
  test('is rejected with 403 and no redirect, right or wrong', async () => {
    const { key } = await newKey(contract.service)
    const right = await contract.get('/orders', withKey(key))
    const wrong = await contract.get('/orders', withKey(flipped(key)))
    expectError(right, 403, /^HTTPS is required\.$/)
    expect(right.bytes.equals(wrong.bytes)).toBe(true)
    for (const header of ['location', 'www-authenticate', 'upgrade']) {
      expect(right.headers).not.toHaveProperty(header)
    }
    const clear = { type: 'credential-in-clear', provider: 'keys', peer: '127.0.0.1' }
    expect(contract.reports()).toEqual([clear, clear])
  })

  test.each(spoofs)("is rejected with the client's headers %o", async (headers) => {
    const { key } = await newKey(contract.service)
    const answer = await contract.get('/orders', { ...headers, ...withKey(key) })
    expectError(answer, 403, /^HTTPS is required\.$/)
    expect(contract.reports()).toMatchObject([{ type: 'credential-in-clear', peer: '127.0.0.1' }])
  })

  test('changes nothing, also when it is sent to save', async () => {
    const { key } = await newKey(contract.service)
    const rows = await contract.rows()
    expectError(await contract.post('/orders', { orderId: 9 }, withKey(key)), 403)
    expectError(await contract.delete('/orders/1', withKey(key)), 403)
    expect(contract.reports()).toHaveLength(2)
    expect(await contract.rows()).toEqual(rows)
  })
})

describeContract(
  'a key over plain HTTP, where it is allowed',
  { security: plainKeys() },
  (contract) => {
    test('opens the service', async () => {
      const { key } = await newKey(contract.service)
      itemsIn(await contract.get('/orders', withKey(key)))
    })
  },
)

describe.each(cells)('HTTPS on $name', (cell) => {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  async function begin(of: Cell = cell) {
    const reports: Observation[] = []
    const running = await start(of, { security: strictKeys, report: (one) => reports.push(one) })
    ends.push(running.stop)
    const tls = await startTls(toNodeHandler(running.service))
    ends.push(tls.close)
    return { ...running, tls, reports }
  }

  test('a key over plain HTTP is not looked up, and a key over TLS is', async () => {
    const reads: string[] = []
    const { service, send, tls, reports } = await begin(watched(cell, (read) => reads.push(read)))
    const { key, keyId } = await newKey(service)
    const before = [await service.keys.list(), await service.keys.audit()]
    reads.length = 0
    const sent = { method: 'GET', target: `${base}/orders`, headers: withKey(key) }
    expectError(await send(sent), 403)
    expect(reads).toEqual([])
    expect(reports.splice(0)).toMatchObject([{ type: 'credential-in-clear' }])
    expect([await service.keys.list(), await service.keys.audit()]).toEqual(before)

    reads.length = 0
    expect(await over(tls, withKey(key))).toMatchObject({ status: 200 })
    expect(reads).toContain('rowgate-security/keys')
    expect(reports).toEqual([])
    await expect
      .poll(async () => (await service.keys.list()).find((one) => one.keyId === keyId)?.lastUsed)
      .toEqual(expect.any(String))
  })

  test('over TLS a key opens the service, and a wrong or missing one does not', async () => {
    const { service, tls, reports } = await begin()
    const { key } = await newKey(service)
    expect(await over(tls, withKey(key))).toMatchObject({ status: 200 })
    expect(await over(tls, withKey(flipped(key)))).toMatchObject({ status: 401 })
    expect(await over(tls, {})).toMatchObject({ status: 401 })
    // What a client says the other way round does not matter either.
    const plain = { 'X-Forwarded-Proto': 'http', Forwarded: 'proto=http' }
    expect(await over(tls, { ...withKey(key), ...plain })).toMatchObject({ status: 200 })
    expect(reports).toMatchObject([{ reason: 'unknown' }, { reason: 'missing' }])
  })

  test('a key is accepted behind a trusted proxy that terminates TLS', async () => {
    const { service, reports } = await begin()
    const { key } = await newKey(service)
    const behind = await startPlain(service, { trustedProxies: ['127.0.0.1'] })
    const front = await startProxy(behind.port)
    expect(await over(front, withKey(key))).toMatchObject({ status: 200 })
    expect(await over(front, withKey(flipped(key)))).toMatchObject({ status: 401 })
    // Past the proxy, from an address that is not trusted, the same header is worth nothing.
    const headers = { ...withKey(key), 'X-Forwarded-Proto': 'https' }
    const past = await over({ port: behind.port }, headers, '127.0.0.2')
    expect(past).toMatchObject({ status: 403 })
    // The proxy itself says that its client came over plain HTTP.
    const told = { ...withKey(key), 'X-Forwarded-Proto': 'http' }
    expect(await over({ port: behind.port }, told)).toMatchObject({ status: 403 })
    expect(reports).toMatchObject([
      { type: 'credential-rejected', reason: 'unknown' },
      { type: 'credential-in-clear', peer: '127.0.0.2' },
      { type: 'credential-in-clear' },
    ])
  })

  test.each([{}, { trustedProxies: [] }, { trustedProxies: ['10.0.0.1'] }])(
    'behind a proxy that is not trusted it does not: %o',
    async (proxies) => {
      const { service, reports } = await begin()
      const { key } = await newKey(service)
      const front = await startProxy((await startPlain(service, proxies)).port)
      expect(await over(front, withKey(key))).toMatchObject({ status: 403 })
      expect(reports).toMatchObject([{ type: 'credential-in-clear', peer: '127.0.0.1' }])
    },
  )

  async function startPlain(
    service: Parameters<typeof toNodeHandler>[0],
    options: NodeHandlerOptions,
  ) {
    const { port, close } = await openServer(createServer(toNodeHandler(service, options)), {
      host: null,
    })
    ends.push(close)
    return { port }
  }

  /** A proxy that ends TLS, says so, and hands requests on. */
  async function startProxy(port: number) {
    const front = await startTls((incoming, response) => {
      const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', connection: 'close' }
      const { method, url: path } = incoming
      const onward = { host: '127.0.0.1', port, method, path, headers }
      incoming.pipe(
        requestPlain(onward, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        }),
      )
    })
    ends.push(front.close)
    return front
  }
})

/** Asks for a page, over TLS where there is a certificate. */
function over(
  to: { readonly port: number; readonly ca?: string },
  headers: Readonly<Record<string, string>>,
  localAddress = '127.0.0.1',
): Promise<{ status: number; text: string }> {
  const { port, ca } = to
  const options = {
    host: '127.0.0.1',
    port,
    path: `${base}/orders`,
    headers,
    localAddress,
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const take = (incoming: IncomingMessage) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, text })
      })
    }
    const outgoing =
      ca === undefined ? requestPlain(options, take) : requestTls({ ...options, ca }, take)
    outgoing.on('error', reject).end()
  })
}
