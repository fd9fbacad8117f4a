import { request } from 'node:https'
import { afterEach, describe, expect, test } from 'vitest'
import { toNodeHandler, type NodeHandlerOptions } from '../../src/entries/node.ts'
import { startTls } from '../kit/tls.ts'
import {
  ask,
  startPlain,
  startProxy,
  echoConnection,
  type Place,
  type Tell,
} from '../kit/client-and-tls.ts'

const client = '127.0.0.2'
const proxy = '127.0.0.1'
const trusted = { trustedProxies: [proxy] }

/** Everything that a client can say to seem to have come over TLS, and from elsewhere. */
const spoofed = {
  'x-forwarded-proto': 'https',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-ssl': 'on',
  'front-end-https': 'on',
  'x-url-scheme': 'https',
  forwarded: 'for=203.0.113.9;proto=https',
}

/** As proxies usually do it: the scheme is theirs, their client is added to the list. */
const usual: Tell = (incoming, scheme) => ({
  'x-forwarded-proto': scheme,
  'x-forwarded-for': added(incoming.headers['x-forwarded-for'], incoming.socket.remoteAddress),
})

/** A proxy that adds its own scheme to a list. */
const listing: Tell = (incoming, scheme) => ({
  ...usual(incoming, scheme),
  'x-forwarded-proto': added(incoming.headers['x-forwarded-proto'], scheme),
})

/** A proxy that writes the header of RFC 7239, and hands on all others. */
const standard: Tell = (incoming, scheme) => ({
  forwarded: added(
    incoming.headers.forwarded,
    `for="${String(incoming.socket.remoteAddress)}:${String(incoming.socket.remotePort)}";proto=${scheme}`,
  ),
})

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function added(list: string | readonly string[] | undefined, hop: string | undefined): string {
  return [list, hop].filter((part) => part !== undefined).join(', ')
}

async function until<Server extends { close(): Promise<void> }>(
  starting: Promise<Server>,
): Promise<Server> {
  const server = await starting
  ends.push(server.close)
  return server
}

function plain(options: NodeHandlerOptions = {}): Promise<Place> {
  return until(startPlain(toNodeHandler(echoConnection, options), '127.0.0.1'))
}

function tls(options: NodeHandlerOptions = {}): Promise<Place> {
  return until(startTls(toNodeHandler(echoConnection, options)))
}

function behind(to: Place, tell: Tell, listen?: 'tls' | 'plain'): Promise<Place> {
  return until(startProxy(to, tell, listen))
}

describe('straight from the client', () => {
  test('a request over TLS is secure, whatever proxies are trusted', async () => {
    const direct = { secure: true, peer: client }
    expect(await ask({ to: await tls(), from: client })).toEqual(direct)
    expect(await ask({ to: await tls(trusted), from: client })).toEqual(direct)
  })

  test('a client that does not trust the certificate receives no response', async () => {
    const { port } = await tls()
    const rejected = new Promise((_resolve, reject) => {
      request({ host: '127.0.0.1', port, agent: false }).on('error', reject).end()
    })
    await expect(rejected).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })

  test('a request over plain HTTP is not secure', async () => {
    expect(await ask({ to: await plain(), from: client })).toEqual({ secure: false, peer: client })
  })

  test.each([
    ['nobody is trusted', {}],
    ['the list is empty', { trustedProxies: [] }],
    ['others are trusted', { trustedProxies: ['127.0.0.3', '10.0.0.0/8', '::1'] }],
    ['headers are named for nobody', { forwarded: { proto: 'x-forwarded-ssl' } }],
  ])('no header makes it secure, or changes its address, when %s', async (_when, options) => {
    const to = await plain(options)
    expect(await ask({ to, from: client, headers: spoofed })).toEqual({
      secure: false,
      peer: client,
    })
  })

  test('over TLS, too, the address comes from the socket', async () => {
    const way = await ask({ to: await tls(), from: client, headers: spoofed })
    expect(way).toEqual({ secure: true, peer: client })
  })

  test('an IPv4 client of a server on all addresses has an IPv4 address', async () => {
    const everywhere = await until(startPlain(toNodeHandler(echoConnection)))
    expect(await ask({ to: everywhere, from: client })).toEqual({ secure: false, peer: client })
  })

  test('an IPv4 proxy is trusted on a server on all addresses', async () => {
    const everywhere = await until(startPlain(toNodeHandler(echoConnection, trusted)))
    const way = await ask({ to: everywhere, from: proxy, headers: spoofed })
    expect(way).toEqual({ secure: true, peer: '203.0.113.9' })
  })
})

describe('headers of a trusted proxy', () => {
  test.each([
    ['x-forwarded-ssl', 'on'],
    ['front-end-https', 'on'],
    ['x-url-scheme', 'https'],
    ['forwarded', 'proto=https'],
    ['cloudfront-forwarded-proto', 'https'],
  ])('%s counts only when it is named', async (name, value) => {
    const headers = { [name]: value }
    const named = { ...trusted, forwarded: { proto: name.toUpperCase() } }
    expect(await ask({ to: await plain(trusted), headers })).toMatchObject({ secure: false })
    expect(await ask({ to: await plain(named), headers })).toMatchObject({ secure: true })
  })

  test.each(['x-forwarded-ssl', 'front-end-https', 'x-url-scheme', 'forwarded'])(
    'x-forwarded-proto does not count when %s is named',
    async (proto) => {
      const to = await plain({ ...trusted, forwarded: { proto } })
      const headers = { ...spoofed, [proto]: 'off' }
      expect(await ask({ to, headers })).toMatchObject({ secure: false })
    },
  )

  test('the header of the client can be another one', async () => {
    const to = await plain({ ...trusted, forwarded: { client: 'X-Real-IP' } })
    const headers = { ...spoofed, 'x-real-ip': '198.51.100.7' }
    expect(await ask({ to, headers })).toEqual({ secure: true, peer: '198.51.100.7' })
  })

  test.each([{ proto: 'forwarded' }, { client: 'Forwarded' }])(
    'RFC 7239 says both when only one is named: %o',
    async (forwarded) => {
      const to = await plain({ ...trusted, forwarded })
      const headers = { forwarded: 'for=198.51.100.7;proto=https' }
      expect(await ask({ to, headers })).toEqual({ secure: true, peer: '198.51.100.7' })
      const others = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' }
      expect(await ask({ to, headers: others })).toEqual({ secure: false, peer: proxy })
    },
  )

  test('a repeated header is one list', async () => {
    const to = await plain(trusted)
    const twice = (values: readonly string[]) => ({ 'x-forwarded-proto': [...values] })
    expect(await ask({ to, headers: twice(['https', 'http']) })).toMatchObject({ secure: false })
    expect(await ask({ to, headers: twice(['http', 'https']) })).toMatchObject({ secure: false })
    expect(await ask({ to, headers: twice(['https', 'https']) })).toMatchObject({ secure: true })
  })
})

describe('behind a reverse proxy', () => {
  test('a request over TLS to the proxy is secure, and has the address of the client', async () => {
    const to = await behind(await plain(trusted), usual)
    expect(await ask({ to, from: client })).toEqual({ secure: true, peer: client })
  })

  test('a request over plain HTTP to the proxy is not, whatever the client says', async () => {
    const to = await behind(await plain(trusted), usual, 'plain')
    expect(await ask({ to, from: client })).toEqual({ secure: false, peer: client })
    expect(await ask({ to, from: client, headers: spoofed })).toEqual({
      secure: false,
      peer: client,
    })
  })

  test('what the client adds to the list of addresses does not count', async () => {
    const to = await behind(await plain(trusted), usual)
    expect(await ask({ to, from: client, headers: spoofed })).toMatchObject({ peer: client })
  })

  test('without trust, the proxy is the client', async () => {
    const to = await behind(await plain(), usual)
    expect(await ask({ to, from: client })).toEqual({ secure: false, peer: proxy })
  })

  test.each([
    ['tls', 'tls', true],
    ['plain', 'tls', false],
    ['tls', 'plain', false],
  ] as const)('over two proxies, %s then %s: secure is %s', async (outer, inner, secure) => {
    const second = await behind(await plain(trusted), listing, inner)
    const to = await behind(second, listing, outer)
    expect(await ask({ to, from: client })).toEqual({ secure, peer: client })
  })

  test('a scheme that the client adds to the list can only make the request insecure', async () => {
    const to = await behind(await plain(trusted), listing, 'plain')
    const headers = { 'x-forwarded-proto': 'https' }
    expect(await ask({ to, from: client, headers })).toMatchObject({ secure: false })
  })

  test('a proxy in the middle that is not in the list counts as the client', async () => {
    const service = await plain(trusted)
    const second = await behind(service, (incoming, scheme) => ({
      ...usual(incoming, scheme),
      'x-forwarded-for': '203.0.113.9, 10.0.0.1',
    }))
    expect(await ask({ to: second, from: client })).toMatchObject({ peer: '10.0.0.1' })
  })

  test.each([
    ['tls', true],
    ['plain', false],
  ] as const)('one that writes RFC 7239, over %s: secure is %s', async (listen, secure) => {
    const service = await plain({ ...trusted, forwarded: { proto: 'forwarded' } })
    const to = await behind(service, standard, listen)
    expect(await ask({ to, from: client })).toEqual({ secure, peer: client })
    expect(await ask({ to, from: client, headers: spoofed })).toEqual({ secure, peer: client })
  })
})
