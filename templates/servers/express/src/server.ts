import express from 'express'
import { toExpressHandler } from 'rowgate/express'
import { openService, service } from './service.ts'

const port = Number(process.env.PORT ?? 8080)
const host = process.env.HOST ?? '127.0.0.1'

const app = express()
app.disable('x-powered-by')
app.get('/live', (_request, response) => {
  response.type('text').send('live')
})
app.get('/ready', async (_request, response) => {
  const isReady = await service.ready().then(
    () => true,
    () => false,
  )
  response
    .status(isReady ? 200 : 503)
    .type('text')
    .send(isReady ? 'ready' : 'not ready')
})
app.use(toExpressHandler(service))

await openService()
const server = app.listen(port, host, (error) => {
  if (error !== undefined) throw error
  console.log(`Serving at http://${host}:${port}/rest/v1/library/books`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(() => {
      void service.close().finally(() => process.exit())
    })
  })
}
