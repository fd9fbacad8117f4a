import { databaseFile } from './announce.ts'
import { serveWithKeys, storageWithKeys } from './with-keys.ts'

await serveWithKeys(storageWithKeys(databaseFile()))
