import { announce, databaseFile } from './announce.ts'
import { fastifyApp } from './fastify-app.ts'
import { openDatabase, storesOf } from './store.ts'

const app = fastifyApp(storesOf(openDatabase(databaseFile())))

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
