// A definition in JSON, written by hand or by a tool, or stored in a database.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createService, memoryStorage, openAccess, readApplications } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'

const port = Number(process.env['PORT'] ?? 8080)

const json: unknown = JSON.parse(readFileSync(new URL('from-json.json', import.meta.url), 'utf8'))
const service = createService({
  applications: readApplications(json),
  storage: memoryStorage(),
  security: openAccess(),
})

createServer(toNodeHandler(service)).listen(port, '127.0.0.1', () => {
  console.log(`http://localhost:${port}/rest/v1/library/books`)
})
