import { announce, databaseFile, tableNames } from './announce.ts'
import { fastifyApp } from './fastify-app.ts'
import { openDatabase, storesOf } from './store.ts'

const app = fastifyApp(storesOf(openDatabase(databaseFile()), tableNames()))

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
