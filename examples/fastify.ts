import { fastify } from 'fastify'
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { handleBadUrls, rowgateFastify } from 'rowgate/fastify'

const port = Number(process.env['PORT'] ?? 8080)

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const prefix = '/api'
// Fastify rejects malformed percent-encoding before any plugin runs. This responds as the service does.
const app = fastify({ frameworkErrors: handleBadUrls(service, { prefix }) })
await app.register(rowgateFastify, { service, prefix })
const address = await app.listen({ port, host: '127.0.0.1' })
console.log(`${address}/api/rest/v1/desk/notes`)
