import express from 'express'
import { toExpressHandler } from 'rowgate/express'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

const storage = storageWithKeys(databaseFile())
const { service, headers } = await serviceWithKeys(storage, { cache: false })
const app = express()

app.use(toExpressHandler(service))
announce(app.listen(0, '127.0.0.1'), headers)
