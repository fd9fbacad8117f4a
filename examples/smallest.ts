import { createServer } from 'node:http'
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'

const port = Number(process.env['PORT'] ?? 8080)

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

createServer(toNodeHandler(service)).listen(port, '127.0.0.1', () => {
  console.log(`http://localhost:${port}/rest/v1/desk/notes`)
})
