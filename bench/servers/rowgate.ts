import { createServer } from 'node:http'
import { openAccess } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { sqliteStorage } from 'rowgate/sqlite'
import { announce, databaseFile } from './announce.ts'
import { salesService } from './sales.ts'

const storage = sqliteStorage(databaseFile(), { synchronous: 'FULL' })
const service = salesService({ storage, security: openAccess() })

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
