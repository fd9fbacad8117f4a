import { createServer } from 'node:http'
import { createPool } from 'mysql2/promise'
import { announce, mysqlConnectionsOf, tableNames } from './announce.ts'
import { executedTables } from './mariadb-statements.ts'
import { poolHandler } from './pool-handler.ts'

const tables = executedTables(createPool(mysqlConnectionsOf()), tableNames())

announce(createServer(poolHandler(tables)).listen(0, '127.0.0.1'))
