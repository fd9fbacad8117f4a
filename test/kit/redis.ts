import { Redis } from 'ioredis'

/** How tests reach the server. */
export const redisAddress = {
  host: process.env['REDIS_HOST'] ?? '127.0.0.1',
  port: Number(process.env['REDIS_PORT'] ?? 6379),
}

/** Why tests of Redis are skipped; undefined if a server responds. Rejects if servers are required. */
export async function missingRedis(): Promise<string | undefined> {
  const redis = new Redis({ ...redisAddress, lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    return undefined
  } catch (error) {
    if (process.env['REQUIRE_SERVERS'] === '1') throw error
    const reason = `no Redis server responds at ${redisAddress.host}:${redisAddress.port}`
    console.warn(`Tests of Redis are skipped: ${reason}`)
    return reason
  } finally {
    redis.disconnect()
  }
}
