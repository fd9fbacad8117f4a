import { serve, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { toFetchHandler } from 'rowgate/fetch'
import { openService, service } from './service.ts'

const port = Number(process.env.PORT ?? 8080)
const hostname = process.env.HOST ?? '127.0.0.1'

const rest = toFetchHandler<[HttpBindings]>(service)
const app = new Hono<{ Bindings: HttpBindings }>()
app.get('/live', (c) => c.text('live'))
app.get('/ready', async (c) => {
  const isReady = await service.ready().then(
    () => true,
    () => false,
  )
  return isReady ? c.text('ready') : c.text('not ready', 503)
})
// c.env has the request of Node, whose socket has the address of the client and says whether it uses TLS.
app.use('/rest/*', (c) => rest(c.req.raw, c.env))

await openService()
const server = serve({ fetch: app.fetch, port, hostname }, () => {
  console.log(`Serving at http://${hostname}:${port}/rest/v1/library/books`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(() => {
      void service.close().finally(() => process.exit())
    })
  })
}
