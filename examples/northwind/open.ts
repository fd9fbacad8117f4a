// For the command line: the service on the database file of main.ts, listening on nothing.
import { existsSync } from 'node:fs'
import { createNorthwind, createReleases } from './service.ts'
import { databaseFile } from './settings.ts'

if (!existsSync(databaseFile)) throw new Error(`There is no ${databaseFile}: npm start builds it.`)

export const deployment = createReleases(databaseFile, 0)
export const service = createNorthwind(deployment)
