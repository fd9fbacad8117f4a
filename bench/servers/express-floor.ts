import express from 'express'
import { announce, databaseFile, tableNames } from './announce.ts'
import { floorHandler, floorOf } from './floor.ts'
import { openDatabase } from './store.ts'

const floor = floorOf(openDatabase(databaseFile()), tableNames())
const app = express()
app.use(floorHandler(floor))

announce(app.listen(0, '127.0.0.1'), floor.keys.headers)
