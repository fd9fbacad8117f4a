import { fastify } from 'fastify'
import { rowgateFastify } from 'rowgate/fastify'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

const storage = storageWithKeys(databaseFile())
const { service, headers } = await serviceWithKeys(storage, { cache: false })
const app = fastify()

await app.register(rowgateFastify, { service })
await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server, headers)
