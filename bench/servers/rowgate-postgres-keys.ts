import { createServer } from 'node:http'
import { Pool } from 'pg'
import { toNodeHandler } from 'rowgate/node'
import { postgresStorage } from 'rowgate/postgres'
import { indexed } from '../customer.ts'
import { announce, connectionsOf } from './announce.ts'
import { serviceWithKeys } from './with-keys.ts'

const storage = postgresStorage(new Pool(connectionsOf()), { ensureSchema: true })
const { service, headers } = await serviceWithKeys(storage, { cache: false, index: indexed })

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), headers)
