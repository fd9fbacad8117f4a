import { fastify } from 'fastify'
import { handleBadUrls, rowgateFastify } from 'rowgate/fastify'
import { openService, service } from './service.ts'

const port = Number(process.env.PORT ?? 8080)
const host = process.env.HOST ?? '127.0.0.1'

// Fastify rejects malformed percent-encoding before any plugin runs. This responds as the service does.
const app = fastify({ frameworkErrors: handleBadUrls(service) })
app.get('/live', () => 'live')
app.get('/ready', async (_request, reply) => {
  const isReady = await service.ready().then(
    () => true,
    () => false,
  )
  return reply.code(isReady ? 200 : 503).send(isReady ? 'ready' : 'not ready')
})
await app.register(rowgateFastify, { service })

await openService()
const address = await app.listen({ port, host })
console.log(`Serving at ${address}/rest/v1/library/books`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    void app
      .close()
      .then(() => service.close())
      .finally(() => process.exit())
  })
}
