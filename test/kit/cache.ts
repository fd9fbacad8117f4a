import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type {
  CacheOptions,
  RequestHandler,
  ServiceReply,
  ServiceRequest,
} from '../../src/entries/index.ts'

// `npm run test:matrix` sets it.
const cache = process.env['CACHE']

/** The option `cache` of services under test, which `npm run test:matrix` changes. */
export const cacheOption: { readonly cache?: CacheOptions | false } =
  cache === 'off'
    ? { cache: false }
    : cache === 'small'
      ? // Room for two to eight responses.
        { cache: { maxBytes: 8_192 } }
      : {}

/**
 * Returns a handler that repeats each read until its response could come from the cache, and compares the
 * responses. Without `npm run test:matrix`, returns the given handler.
 */
export function repeatingReads<Handler extends Pick<RequestHandler, 'handle'>>(
  handler: Handler,
): Handler {
  if (cache === undefined) return handler
  const handle = async (request: ServiceRequest): Promise<ServiceReply> => {
    let reply = await handler.handle(request)
    if (request.method !== 'GET' || reply.status !== 200) return reply
    for (let round = 0; round < 2; round++) {
      const again = await handler.handle(request)
      if (!isDeepStrictEqual({ ...again }, { ...reply })) expect({ ...again }).toEqual({ ...reply })
      reply = again
    }
    return reply
  }
  return { ...handler, handle }
}
