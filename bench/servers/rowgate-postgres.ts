import { createServer } from 'node:http'
import { Pool } from 'pg'
import { openAccess } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { postgresStorage } from 'rowgate/postgres'
import { indexed } from '../customer.ts'
import { announce, connectionsOf } from './announce.ts'
import { salesService } from './sales.ts'

const storage = postgresStorage(new Pool(connectionsOf()))
const service = salesService({ storage, security: openAccess(), cache: false, index: indexed })
await service.ready()

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
