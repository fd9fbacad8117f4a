import { fastify } from 'fastify'
import { announce, databaseFile, tableNames } from './announce.ts'
import { floorOf, headers, noKey } from './floor.ts'
import { openDatabase } from './store.ts'

const floor = floorOf(openDatabase(databaseFile()), tableNames())
const app = fastify()
app.get('/*', (request, reply) => {
  const isAdmitted = floor.keys.admits(request.headers['x-api-key'])
  const { status, text } = isAdmitted ? floor.read(request.url) : noKey
  void reply.code(status).headers(headers).send(text)
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server, floor.keys.headers)
