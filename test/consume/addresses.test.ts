import { lookup } from 'node:dns/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { connection, endpoint, type ConnectionOptions } from '../../src/entries/consume.ts'
import { addressCheck } from '../../src/consume/connection/private-addresses.ts'
import { makeCertificate, startTls } from '../kit/tls.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

const server = await startServer((_request, response) => {
  respond(response, 'reached')
})
afterAll(() => server.close())
const { port } = new URL(server.url)

function call(options: ConnectionOptions, callOptions = {}): Promise<unknown> {
  const to = connection({ allowHttp: true, attempts: 1, ...options })
  return endpoint(to, { name: 'get', path: '/' }).call({}, callOptions)
}

describe('a private address is rejected before anything is sent', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
    '[::127.0.0.1]',
    '0.0.0.0',
    'localhost',
  ])('of %s', async (host) => {
    const before = server.received.length
    const error = await rejection(call({ baseUrl: `http://${host}:${port}` }))
    expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS', endpoint: 'get' })
    expect(server.received.length).toBe(before)
  })

  test('of a base URL that is given with the call', async () => {
    const options = { baseUrl: 'https://api.example.com', allowHosts: [`127.0.0.1:${port}`] }
    const error = await rejection(call(options, { baseUrl: server.url }))
    expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS' })
  })
})

test('an allowed range is reached, and no other private address', async () => {
  const allowPrivateAddresses = ['127.0.0.1']
  expect(await call({ baseUrl: server.url, allowPrivateAddresses })).toMatchObject({
    body: 'reached',
  })
  const other = { baseUrl: `http://127.0.0.2:${port}`, allowPrivateAddresses }
  expect(await rejection(call(other))).toMatchObject({ code: 'PRIVATE_ADDRESS' })
})

describe('the check of addresses', () => {
  const isPublic = addressCheck([])

  test.each(
    [
      '10.0.0.1 100.64.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 224.0.0.1',
      '255.255.255.255 192.0.2.1 ::1 :: ::ffff:10.0.0.1 64:ff9b::7f00:1 fe80::1 fe80::1%eth0 fc00::1',
      'fd12::1 ff02::1 2002:7f00:1::1 2001::1 2001:db8::1',
    ]
      .join(' ')
      .split(' '),
  )('closes %s', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  test.each(['8.8.8.8', '172.32.0.1', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    'opens %s',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  test('closes whatever is not an address', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[\d.:a-f]+$/i.test(text))
        expect(isPublic(text)).toBe(false)
      }),
    )
  })
})

describe('a URL is rejected', () => {
  test.each([
    ['http without allowHttp', { baseUrl: 'http://a.example', allowHttp: false }, /allowHttp/],
    ['another protocol', { baseUrl: 'ftp://a.example' }, /must begin with https/],
    ['credentials', { baseUrl: 'https://u:p@a.example' }, /use authentication/],
    ['a query', { baseUrl: 'https://a.example/?x' }, /use query/],
    ['no URL', { baseUrl: 'example' }, /must be a URL/],
  ])('as a base URL with %s', (_what, options, message) => {
    expect(() => connection(options)).toThrow(message)
  })

  const rules = {
    baseUrl: 'https://api.example.com/v1',
    allowHttp: false,
    allowHosts: ['other.example:8443', '*.tenants.example'],
    fetch: async (url: string) => Response.json(url),
  }

  test.each([
    [{ baseUrl: 'https://evil.example' }, /not in allowHosts/],
    [{ baseUrl: 'https://other.example' }, /not in allowHosts/],
    [{ baseUrl: 'https://tenants.example' }, /not in allowHosts/],
    [{ baseUrl: 'https://a.tenants.example.evil.example' }, /not in allowHosts/],
    [{ baseUrl: 'http://a.tenants.example' }, /https/],
    [{ baseUrl: 'https://x@a.tenants.example' }, /credentials/],
    [{ url: 'https://evil.example/v1/next' }, /another origin/],
    [{ url: '//evil.example/v1/next' }, /another origin/],
    [{ url: 'http://api.example.com/v1/next' }, /another origin/],
    [{ url: 'https://x@api.example.com/v1/next' }, /another origin/],
  ])('as %o', async (options, message) => {
    const error = await rejection(call(rules, options))
    expect(error).toMatchObject({ code: 'FORBIDDEN_URL' })
    expect(error.message).toMatch(message)
  })

  test.each([
    [{ baseUrl: 'https://other.example:8443/x' }, 'https://other.example:8443/x/'],
    [{ baseUrl: 'https://a.tenants.example' }, 'https://a.tenants.example/'],
    [{ url: '/v1/next?page=2#x' }, 'https://api.example.com/v1/next?page=2'],
    [
      { baseUrl: 'https://a.tenants.example', url: 'https://a.tenants.example/2' },
      'https://a.tenants.example/2',
    ],
  ])('but not %o', async (options, url) => {
    expect(await call(rules, options)).toMatchObject({ body: url })
  })
})

test('a certificate that is not trusted is rejected with its code, without a retry', async () => {
  let connections = 0
  const tls = await startTls((_request, response) => {
    connections++
    respond(response, 'reached')
  })
  const allowPrivateAddresses = ['127.0.0.0/8', '::1']
  const options = { baseUrl: `https://127.0.0.1:${tls.port}`, allowPrivateAddresses, attempts: 3 }
  const error = await rejection(call(options))
  expect(error).toMatchObject({ code: 'TLS_FAILED' })
  expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(connections).toBe(0)
  await tls.close()
})

describe('with ca', () => {
  test.each<[string, ConnectionOptions['allowPrivateAddresses']]>([
    ['all private addresses', true],
    ['a range', ['127.0.0.0/8', '::1']],
  ])('its certificates are trusted where %s may be called', async (_what, allowed) => {
    const tls = await startTls((_request, response) => {
      respond(response, 'reached')
    })
    onTestFinished(() => tls.close())
    const other = (await makeCertificate()).cert
    const options = { baseUrl: `https://127.0.0.1:${tls.port}`, allowPrivateAddresses: allowed }
    expect(await call({ ...options, ca: tls.ca })).toMatchObject({ body: 'reached' })
    expect(await call({ ...options, ca: [tls.ca] })).toMatchObject({ body: 'reached' })
    expect(await rejection(call({ ...options, ca: other }))).toMatchObject({ code: 'TLS_FAILED' })
  })

  test('private addresses are still rejected', async () => {
    const ca = (await makeCertificate()).cert
    const error = await rejection(call({ baseUrl: `https://127.0.0.1:${port}`, ca }))
    expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS' })
  })

  test('invalid options are mistakes', async () => {
    const ca = (await makeCertificate()).cert
    const baseUrl = 'https://api.example.com'
    expect(() => connection({ baseUrl, ca: ['no certificate'] })).toThrow('connection.ca')
    expect(() => connection({ baseUrl, ca: [] })).toThrow('connection.ca')
    const replaced = { baseUrl, ca, fetch: async () => Response.json(1) }
    expect(() => connection(replaced)).toThrow('has no effect with fetch')
  })
})

test('plain HTTP behind https is rejected as TLS', async () => {
  const options = { baseUrl: `https://127.0.0.1:${port}`, allowPrivateAddresses: ['127.0.0.0/8'] }
  expect(await rejection(call(options))).toMatchObject({ code: 'TLS_FAILED' })
})

test('a host name that does not exist is rejected', async () => {
  const host = 'rowgate.invalid'
  await expect(lookup(host)).rejects.toThrow()
  const error = await rejection(call({ baseUrl: `https://${host}` }))
  expect(error).toMatchObject({ code: 'NAME_NOT_FOUND', status: null })
})

test('a port that fetch blocks is rejected', async () => {
  const error = await rejection(call({ baseUrl: 'https://api.example.com:25' }))
  expect(error).toMatchObject({ code: 'FORBIDDEN_URL' })
})
