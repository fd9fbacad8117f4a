import { createServer } from 'node:http'
import { announce, databaseFile, tableNames } from './announce.ts'
import { nodeHttpHandler } from './node-http-handler.ts'
import { openDatabase, storesOf } from './store.ts'

const handle = nodeHttpHandler(storesOf(openDatabase(databaseFile()), tableNames()))

announce(createServer(handle).listen(0, '127.0.0.1'))
