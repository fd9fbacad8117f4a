import { fastify } from 'fastify'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../src/entries/express.ts'
import { rowgateFastify } from '../../src/entries/fastify.ts'
import { createService, integer, memoryStorage, openAccess } from '../../src/entries/index.ts'
import { describeContract } from '../contract/contract.ts'
import { startPlain } from '../kit/client-and-tls.ts'
import { listen } from '../kit/fastify-app.ts'

const messages = {
  de: { required: '{field} fehlt.', notSaved: 'Nicht gespeichert.', notFound: 'Nicht gefunden.' },
} as const

describeContract('a service with languages', { messages }, ({ get, post }) => {
  test('responds in the language of the client', async () => {
    const german = { 'Accept-Language': 'de-DE, en;q=0.5' }
    const { status, body, headers } = await post('/customers', { customerId: 'NEW' }, german)
    expect([status, body]).toEqual([
      400,
      {
        item: { customerId: 'NEW' },
        message: 'Nicht gespeichert.',
        validations: [{ message: 'companyName fehlt.', severity: 'error', field: 'companyName' }],
        status: 200,
      },
    ])
    expect(headers).toMatchObject({ 'content-language': 'de', vary: 'Accept-Language' })
    const missing = await get('/customers/NONE', german)
    expect([missing.body.message, missing.headers['content-language']]).toEqual([
      'Nicht gefunden.',
      'de',
    ])
    const english = await get('/customers/NONE')
    expect([english.body.message, english.headers['content-language']]).toEqual([
      'Not found.',
      'en',
    ])
  })
})

describe('Vary of an application', () => {
  const service = () =>
    createService({
      applications: { app: { collections: { plain: { key: 'id', fields: { id: integer() } } } } },
      storage: memoryStorage(),
      security: openAccess(),
      messages,
    })
  const varyAt = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/rest/v1/app/plain`)).headers.get('Vary')

  test('is kept by Express', async () => {
    const app = express()
    app.use((_request, response, next) => {
      response.vary('Origin')
      next()
    })
    app.use(toExpressHandler(service()))
    const { port, close } = await startPlain(app, '127.0.0.1')
    onTestFinished(close)
    expect(await varyAt(port)).toBe('Origin, Accept-Language')
  })

  test('is kept by Fastify', async () => {
    const app = fastify()
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('Vary', 'Origin')
      return Promise.resolve()
    })
    await app.register(rowgateFastify, { service: service() })
    const { port, close } = await listen(app)
    onTestFinished(close)
    expect(await varyAt(port)).toBe('Origin, Accept-Language')
  })
})
