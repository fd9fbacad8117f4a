import { createServer } from 'node:http'
import { toNodeHandler } from 'rowgate/node'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

const storage = storageWithKeys(databaseFile())
const { service, headers } = await serviceWithKeys(storage, { cache: false })

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), headers)
