import express from 'express'
import { toExpressHandler } from 'rowgate/express'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

const { service, headers } = await serviceWithKeys(storageWithKeys(databaseFile()))
const app = express()

app.use(toExpressHandler(service))
announce(app.listen(0, '127.0.0.1'), headers)
