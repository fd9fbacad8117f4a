import express from 'express'
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { toExpressHandler } from 'rowgate/express'

const port = Number(process.env['PORT'] ?? 8080)

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const app = express()
app.use('/api', toExpressHandler(service))
app.listen(port, '127.0.0.1', () => {
  console.log(`http://localhost:${port}/api/rest/v1/desk/notes`)
})
