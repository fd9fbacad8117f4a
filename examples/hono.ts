// A service and other routes in one Hono application, on Node.
import { serve, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'

const port = Number(process.env['PORT'] ?? 8080)

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const rest = toFetchHandler<[HttpBindings]>(service, {
  prefix: '/api',
  // Paths of unknown applications go to the routes below.
  outside: 'pass',
})

const app = new Hono<{ Bindings: HttpBindings }>()
// c.env has the request of Node, whose socket has the address of the client and says whether it uses TLS.
app.use('/api/*', async (c, next) => (await rest(c.req.raw, c.env)) ?? next())
app.get('/api/hello', (c) => c.text('This route is mine.'))

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => {
  console.log(`http://localhost:${port}/api/rest/v1/desk/notes`)
})
