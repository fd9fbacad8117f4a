import { serve } from 'rowgate/node'
import { openService, service } from './service.ts'

await openService()
const { url, close } = await serve(service, {
  port: Number(process.env.PORT ?? 8080),
  host: process.env.HOST ?? '127.0.0.1',
  // Responds at /live and /ready.
  health: true,
})
console.log(`Serving at ${url}/rest/v1/library/books`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    void close().finally(() => process.exit())
  })
}
