import { createServer } from 'node:http'
import { announce, databaseFile, tableNames } from './announce.ts'
import { floorHandler, floorOf } from './floor.ts'
import { openDatabase } from './store.ts'

const floor = floorOf(openDatabase(databaseFile()), tableNames())

announce(createServer(floorHandler(floor)).listen(0, '127.0.0.1'), floor.keys.headers)
