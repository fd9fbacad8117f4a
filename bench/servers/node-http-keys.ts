import { createServer } from 'node:http'
import { announce, databaseFile, tableNames } from './announce.ts'
import { keyCheck } from './key-check.ts'
import { nodeHttpHandler, send } from './node-http-handler.ts'
import { unauthorized } from './replies.ts'
import { openDatabase, storesOf } from './store.ts'

const db = openDatabase(databaseFile())
const { admits, headers } = keyCheck(db)
const handle = nodeHttpHandler(storesOf(db, tableNames()))

const server = createServer((request, response) => {
  if (admits(request.headers['x-api-key'])) handle(request, response)
  else send(response, 401, unauthorized)
})

announce(server.listen(0, '127.0.0.1'), headers)
