import { createServer } from 'node:http'
import { createPool } from 'mysql2/promise'
import { openAccess } from 'rowgate'
import { mysqlStorage } from 'rowgate/mysql'
import { toNodeHandler } from 'rowgate/node'
import { indexed } from '../customer.ts'
import { announce, mysqlConnectionsOf } from './announce.ts'
import { salesService } from './sales.ts'

const storage = mysqlStorage(createPool(mysqlConnectionsOf()))
const service = salesService({ storage, security: openAccess(), cache: false, index: indexed })
await service.ready()

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
