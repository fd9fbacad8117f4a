import { createServer } from 'node:http'
import { toNodeHandler } from 'rowgate/node'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

// Storage that can't tell whether anything has changed: key and user are read for each request.
const storage = { ...storageWithKeys(databaseFile()), version: () => undefined }
const { service, headers } = await serviceWithKeys(storage)

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'), headers)
