import { once } from 'node:events'
import { appendFileSync, writeSync } from 'node:fs'
import { Redis } from 'ioredis'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { serve } from '../../../src/entries/node.ts'
import { createService } from '../../../src/entries/index.ts'
import { apiKeys } from '../../../src/entries/security.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { packageOf } from '../../kit/builders.ts'
import { redisAddress } from '../../kit/redis.ts'
import { applications, deploymentOf } from './applications.ts'
import type { InstanceDatabase, InstanceOrder } from './instance.ts'

// A process of its own that serves until its input ends. It prints its port, and what it reports of faults.
const { name, database, log, lease, limited } = JSON.parse(process.argv[2] ?? '') as InstanceOrder
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${String(value)}\n`)
}

interface OpenDatabase {
  readonly storage: StorageAdapter
  end(): Promise<void>
}

function openDatabase(at: InstanceDatabase): OpenDatabase {
  const { host, port, user, database } = at
  const server = { host, port, user, database }
  if (at.kind === 'mysql') {
    const { password } = at
    const pool = createPool({ ...server, password, connectionLimit: 5, connectTimeout: 2_000 })
    return { storage: mysqlStorage(pool), end: () => pool.end() }
  }
  const options = `-c search_path=${at.schema}`
  const pool = new Pool({ ...server, options, max: 5, connectionTimeoutMillis: 2_000 })
  return { storage: postgresStorage(pool), end: () => pool.end() }
}

const { storage, end } = openDatabase(database)
const redis = new Redis(redisAddress)
const { keyId, points, prefix } = limited
const limiter = new RateLimiterRedis({
  storeClient: redis,
  points,
  duration: 600,
  keyPrefix: prefix,
})

const deployment = deploymentOf(
  {
    name: 'instance',
    build: async (job) => {
      appendFileSync(log, `${job.releaseId} ${job.attempt} ${name}\n`)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return packageOf(job)
    },
  },
  { lease, workers: 1 },
)
const service = createService({
  applications: { ...applications, ...deployment.applications },
  storage,
  security: apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } }),
  limits: { requests: { consume: async (key) => key === keyId && limiter.consume(key) } },
  report: (one) => {
    if (one.type === 'request-failed') say('fault', one.error)
  },
})
const serving = await serve(service, { port: 0, grace: 2_000 })
say('port', serving.port)
process.stdin.resume()
await once(process.stdin, 'end')
await serving.close()
await end()
redis.disconnect()
