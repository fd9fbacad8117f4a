import { announce, databaseFile, tableNames } from './announce.ts'
import { fastifyApp } from './fastify-app.ts'
import { keyCheck } from './key-check.ts'
import { unauthorized } from './replies.ts'
import { openDatabase, storesOf } from './store.ts'

const db = openDatabase(databaseFile())
const { admits, headers } = keyCheck(db)
const app = fastifyApp(storesOf(db, tableNames()))

app.addHook('preHandler', (request, reply, done) => {
  if (admits(request.headers['x-api-key'])) done()
  else void reply.code(401).send(unauthorized)
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server, headers)
