import { createServer } from 'node:http'
import { Pool } from 'pg'
import { announce, connectionsOf, tableNames } from './announce.ts'
import { poolHandler } from './pool-handler.ts'
import { statementTables } from './postgres-statements.ts'

const tables = statementTables(new Pool(connectionsOf()), tableNames())

announce(createServer(poolHandler(tables)).listen(0, '127.0.0.1'))
