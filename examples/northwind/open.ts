// For the command line: the service over the database file of main.ts, without a server.
import { existsSync } from 'node:fs'
import { createNorthwind, createReleases } from './service.ts'
import { databaseFile } from './settings.ts'

if (!existsSync(databaseFile))
  throw new Error(`${databaseFile} does not exist: run npm start to build it.`)

export const deployment = createReleases(0)
export const service = createNorthwind(databaseFile, deployment)
