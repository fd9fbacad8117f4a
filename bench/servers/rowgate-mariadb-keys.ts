import { createServer } from 'node:http'
import { createPool } from 'mysql2/promise'
import { mysqlStorage } from 'rowgate/mysql'
import { toNodeHandler } from 'rowgate/node'
import { indexed } from '../customer.ts'
import { announce, mysqlConnectionsOf } from './announce.ts'
import { serviceWithKeys } from './with-keys.ts'

const storage = mysqlStorage(createPool(mysqlConnectionsOf()), { ensureSchema: true })
const { service, headers } = await serviceWithKeys(storage, { cache: false, index: indexed })

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), headers)
