import { fastify } from 'fastify'
import { announce, databaseFile, tableNames } from './announce.ts'
import { constantFloor, floorOf } from './floor.ts'
import { openDatabase } from './store.ts'

const floor = constantFloor(floorOf(openDatabase(databaseFile()), tableNames()))
const app = fastify()
app.get('/*', (request, reply) => {
  const { status, text } = floor.read(request.url)
  void reply.code(status).header('Content-Type', 'application/json; charset=utf-8').send(text)
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
