import type { RequestListener } from 'node:http'
import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { ask, echoConnection, startPlain, type Place } from '../kit/client-and-tls.ts'
import { releases } from '../kit/express-app.ts'
import { makeCertificate, startTls } from '../kit/tls.ts'

/** Starts a server that trusts the proxies at the addresses. */
type Start = (trusted: readonly string[], how: 'plain' | 'TLS') => Promise<Place>

async function listening(listener: RequestListener, how: 'plain' | 'TLS'): Promise<Place> {
  const place = await (how === 'TLS' ? startTls(listener) : startPlain(listener, '127.0.0.1'))
  onTestFinished(place.close)
  return place
}

const bindings: Readonly<Record<string, Start>> = {
  'node:http': (trustedProxies, how) =>
    listening(toNodeHandler(echoConnection, { trustedProxies }), how),
  fastify: async (trustProxy, how) => {
    const { private: key, cert } = await makeCertificate()
    const options = { trustProxy: [...trustProxy] }
    const app = fastify(how === 'TLS' ? ({ ...options, https: { key, cert } } as object) : options)
    await app.register(rowgateFastify, { service: echoConnection, outside: 'respond' })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    const port = Number(new URL(address).port)
    return how === 'TLS' ? { port, ca: cert } : { port }
  },
  ...Object.fromEntries(
    releases.map(({ name, express }): [string, Start] => [
      name,
      (trusted, how) => {
        const app = express().set('trust proxy', [...trusted])
        return listening(app.use(toExpressHandler(echoConnection)), how)
      },
    ]),
  ),
}

/** Whether a request of a trusted proxy is secure; undefined: the socket decides. */
const values: readonly (readonly [string | readonly string[] | undefined, boolean | undefined])[] =
  [
    [undefined, undefined],
    ['', undefined],
    [' , ', undefined],
    ['https', true],
    ['HTTPS', true],
    ['https, https', true],
    [' https ,HTTPS', true],
    [['https', 'https'], true],
    ['http', false],
    ['https, http', false],
    ['http, https', false],
    ['https,http,https', false],
    ['https,', false],
    [', https', false],
    [['https', 'http'], false],
    [['http', 'https'], false],
    ['on', false],
    ['https;q=1', false],
    ['"https"', false],
  ]

for (const [name, start] of Object.entries(bindings)) {
  for (const how of ['plain', 'TLS'] as const) {
    test(`${name}, ${how}: each value of X-Forwarded-Proto of a trusted proxy must be https`, async () => {
      const to = await start(['127.0.0.1'], how)
      for (const [value, secure] of values) {
        const sent = typeof value === 'object' ? [...value] : value
        const headers = sent === undefined ? {} : { 'x-forwarded-proto': sent }
        expect([value, (await ask({ to, headers })).secure]).toEqual([
          value,
          secure ?? how === 'TLS',
        ])
      }
    })

    test(`${name}, ${how}: the socket decides for all other clients`, async () => {
      const to = await start(['10.0.0.1'], how)
      for (const [value] of values) {
        const sent = typeof value === 'object' ? [...value] : value
        const headers = sent === undefined ? {} : { 'x-forwarded-proto': sent }
        expect([value, (await ask({ to, headers })).secure]).toEqual([value, how === 'TLS'])
      }
    })
  }
}
