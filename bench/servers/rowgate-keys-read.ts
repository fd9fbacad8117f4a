import { databaseFile } from './announce.ts'
import { serveWithKeys, storageWithKeys } from './with-keys.ts'

// Storage that can't tell whether anything has changed: key and user are read for each request.
await serveWithKeys({ ...storageWithKeys(databaseFile()), version: () => undefined })
