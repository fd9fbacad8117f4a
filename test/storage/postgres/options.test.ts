import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { postgresStorage, type PostgresOptions } from '../../../src/entries/postgres.ts'

const pool = new Pool()
const milliseconds = 'must be a whole number of milliseconds from 0 to 600000'

test.each<[options: object, message: string]>([
  [{ reads: {} }, 'postgresStorage.reads: must be a Pool of the package pg'],
  [{ reads: 'postgres://replica' }, 'postgresStorage.reads: must be a Pool of the package pg'],
  [{ reads: pool }, 'postgresStorage.reads: must not be the pool of the primary'],
  [{ replicaWait: -1 }, `postgresStorage.replicaWait: ${milliseconds}`],
  [{ replicaWait: '1s' }, `postgresStorage.replicaWait: ${milliseconds}`],
  [{ replicawait: 1 }, 'postgresStorage.replicawait: is not an option; did you mean replicaWait?'],
])('the options %j are a mistake', (options, message) => {
  expect(() => postgresStorage(pool, options as PostgresOptions)).toThrow(message)
})
